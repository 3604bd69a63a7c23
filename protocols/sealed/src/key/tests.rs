use super::*;
use alloc::string::ToString;

/// Alice's and Bob's keys of RFC 7748 section 6.1, in base64.
const ALICE: (&str, &str) =
    ("dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=", "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=");

#[test]
fn the_public_half_is_that_of_the_rfc() {
    let pair = KeyPair::from_private_text(ALICE.0).unwrap();
    assert_eq!(pair.public().to_string(), ALICE.1);
    assert_eq!(pair.private_text(), ALICE.0);
    assert_eq!(ALICE.1.parse(), Ok(pair.public()));
}

#[test]
fn a_new_pair_comes_back_from_its_text_and_seeds_make_different_ones() {
    let pair = |seed| KeyPair::generate(&mut Entropy::from_seed([seed; 32]));
    let read = KeyPair::from_private_text(&pair(1).private_text()).unwrap();
    assert_eq!(read.public(), pair(1).public());
    assert_ne!(pair(1).public(), pair(2).public());
}

#[test]
fn what_is_no_key_is_refused_without_being_repeated() {
    for text in ["", "=", "short", &ALICE.0[1..], &ALICE.0.replace('=', "A"), &ALICE.0.replace("Co=", "Cp=")]
    {
        let error = KeyPair::from_private_text(text).unwrap_err();
        assert!(error.contains("44 characters") && (text.len() < 5 || !error.contains(text)), "{error}");
        assert!(text.parse::<PublicKey>().is_err());
    }
}

/// HKDF-SHA-256 of Alice's private key without a salt, worked out by another program.
#[test]
fn a_secret_for_another_purpose_is_that_of_the_rfc() {
    let pair = KeyPair::from_private_text(ALICE.0).unwrap();
    let secret = STANDARD.encode(pair.derived_secret("prismux statements, Ed25519"));
    assert_eq!(secret, "4aLD/QHGev/hh5pSMlhXdrLR64FkWEzcoV8fMlw1snc=");
    assert_ne!(pair.derived_secret("a"), pair.derived_secret("b"));
}
