use super::{
    Accept, Bye, Challenge, ControlError, Hello, Lost, Message, Offer, Probe, Tier, Token, Welcome,
    is_valid_name,
};
use hmac::Mac;
use prismux_receipts::{NumberRange, Receipt};
use prismux_sharing::{Carried, Day, settlement};
use prismux_units::{Duration, Rate};
use prismux_wire::SeqNumber;

fn token() -> Token {
    Token::new("correct horse battery").unwrap()
}

fn hello() -> Hello {
    Hello {
        session: 7,
        counter: 1_000_000,
        next_within: Duration::from_secs(25),
        rate: Some(Rate::from_mbps(50)),
        tier: Tier::Primary,
        limit: None,
        name: "kitchen-lte.1".to_owned(),
    }
}

fn receipt() -> Receipt {
    Receipt {
        epoch: 77,
        number: 4,
        written_at: Duration::from_millis(40),
        ecn: None,
        recovered_packets: 5,
        ranges: vec![NumberRange { first: SeqNumber(3), last: SeqNumber(9) }],
        arrivals: Vec::new(),
    }
}

fn messages() -> Vec<Message> {
    vec![
        Message::Hello(hello()),
        Message::Hello(Hello { rate: None, name: "x".repeat(32), ..hello() }),
        Message::Hello(Hello { tier: Tier::Backup, ..hello() }),
        Message::Hello(Hello { tier: Tier::Secondary, limit: Some(Rate::from_mbps(3)), ..hello() }),
        Message::Hello(Hello { limit: Some(Rate::from_bps(1)), ..hello() }),
        Message::Welcome(Welcome { session: 1, counter: u64::MAX }),
        Message::Challenge(Challenge { session: u64::MAX, counter: 0 }),
        Message::Bye(Bye { session: 3, counter: 4, name: "m1".to_owned() }),
        Message::Offer(Offer { session: 3, counter: 5, epoch: 77, repairs: false }),
        Message::Accept(Accept { session: 3, counter: 5, epoch: 78, repairs: false }),
        Message::Offer(Offer { session: 3, counter: 5, epoch: 77, repairs: true }),
        Message::Accept(Accept { session: 3, counter: 5, epoch: 78, repairs: true }),
        Message::Probe(Probe { asker: 1, number: 6 }),
        Message::Echo(Probe { asker: 1, number: 6 }),
        Message::PathProbe(Probe { asker: 2, number: 7 }, 38),
        Message::PathProbe(Probe { asker: 3, number: 8 }, 1436),
        Message::Lost(Lost { session: 3, counter: 7, name: "house-1".to_owned() }),
        Message::Receipt(receipt()),
        Message::Settlement(settlement::Message::Claim(settlement::Claim {
            verifying: [7; 32],
            day: Day::from_number(20_786).unwrap(),
            sequence: 5,
            carried: Carried { forward_bytes: 6, return_bytes: u64::MAX },
        })),
    ]
}

#[test]
fn what_is_sent_is_understood() {
    for message in messages() {
        assert_eq!(Message::parse(&message.emit(&token()), &token()), Ok(message));
    }
}

#[test]
fn the_layout_of_a_hello_is_fixed() {
    let bytes = Message::Hello(hello()).emit(&token());
    assert_eq!(bytes[..6], *b"prmx\x01\x01");
    assert_eq!(bytes[6..14], 7u64.to_be_bytes());
    assert_eq!(bytes[14..22], 1_000_000u64.to_be_bytes());
    assert_eq!(bytes[22..26], 25_000u32.to_be_bytes());
    assert_eq!(bytes[26..34], 50_000_000u64.to_be_bytes());
    assert_eq!(bytes[34..47], *b"kitchen-lte.1");
    assert_eq!(bytes.len(), 47 + 16);
}

#[test]
fn a_hello_with_terms_has_a_kind_of_its_own_and_one_without_is_none_of_it() {
    let bytes = Message::Hello(Hello { tier: Tier::Backup, ..hello() }).emit(&token());
    assert_eq!(
        (bytes[5], bytes[34], &bytes[35..43], &bytes[43..56]),
        (11, 2, &[0; 8][..], &b"kitchen-lte.1"[..])
    );
    for tier in [0, 3, 4, 255] {
        let mut signed = bytes[..bytes.len() - 16].to_vec();
        signed[34] = tier;
        let tag = token().mac(&signed).finalize().into_bytes();
        signed.extend_from_slice(&tag[..16]);
        assert_eq!(Message::parse(&signed, &token()), Err(ControlError::Malformed), "tier {tier}");
    }
}

#[test]
fn another_token_or_any_changed_byte_is_refused() {
    let other = Token::new("incorrect horse battery").unwrap();
    for message in messages() {
        let bytes = message.emit(&token());
        assert_eq!(Message::parse(&bytes, &other), Err(ControlError::BadTag));
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            assert!(Message::parse(&changed, &token()).is_err(), "byte {index} of {message:?}");
        }
    }
}

#[test]
fn every_cut_and_every_extension_is_refused() {
    for message in messages() {
        let bytes = message.emit(&token());
        for length in 0..bytes.len() {
            assert!(Message::parse(&bytes[..length], &token()).is_err());
        }
        let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
        assert!(Message::parse(&longer, &token()).is_err());
    }
}

#[test]
fn names_and_tokens_have_limits() {
    assert!(Token::new("too short").is_none());
    for name in ["", "a b", "a/b", "größe", &"x".repeat(33)] {
        assert!(!is_valid_name(name), "{name:?}");
    }
    let hostile = Message::Bye(Bye { session: 1, counter: 1, name: "../../etc".to_owned() });
    assert_eq!(Message::parse(&hostile.emit(&token()), &token()), Err(ControlError::Malformed));
}
