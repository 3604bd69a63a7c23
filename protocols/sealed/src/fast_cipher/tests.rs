use super::FastCipher;
use snow::params::CipherChoice;
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::Cipher;
extern crate std;
use std::vec::Vec;

fn both(key: [u8; 32]) -> [std::boxed::Box<dyn Cipher>; 2] {
    let pure = DefaultResolver.resolve_cipher(&CipherChoice::ChaChaPoly).unwrap();
    let mut both: [std::boxed::Box<dyn Cipher>; 2] = [pure, std::boxed::Box::new(FastCipher::default())];
    both.iter_mut().for_each(|cipher| cipher.set(&key));
    assert_eq!(both[0].name(), both[1].name());
    both
}

#[test]
fn it_seals_as_pure_rust_does_and_opens_nothing_else() {
    let ciphers = both([9; 32]);
    for (counter, length) in [(0, 0), (1, 1), (u64::MAX - 1, 15), (1 << 33, 16), (77, 1400), (3, 65_000)] {
        let text: Vec<u8> = (0..length).map(|k| (k * 31 + 7) as u8).collect();
        let seal = |cipher: &dyn Cipher| {
            let mut out = std::vec![0xee; length + 20];
            let written = cipher.encrypt(counter, b"header", &text, &mut out);
            assert_eq!((written, &out[written..]), (length + 16, &[0xee; 4][..]));
            out.truncate(written);
            out
        };
        let sealed = seal(&*ciphers[1]);
        assert_eq!(seal(&*ciphers[0]), sealed, "{length} bytes");
        let mut out = std::vec![0xee; length];
        let open = |counter, header: &[u8], sealed: &[u8], out: &mut [u8]| {
            ciphers[1].decrypt(counter, header, sealed, out)
        };
        assert_eq!(open(counter, b"header", &sealed, &mut out).unwrap(), length);
        assert_eq!(out, text);
        assert!(open(counter + 1, b"header", &sealed, &mut out).is_err());
        assert!(out.iter().all(|&byte| byte == 0), "nothing unproved is left");
        assert!(open(counter, b"other", &sealed, &mut out).is_err());
        for place in [0, sealed.len() / 2, sealed.len() - 1] {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert!(open(counter, b"header", &changed, &mut out).is_err());
        }
        assert!(open(counter, b"header", &sealed[..15], &mut out).is_err(), "no room for a tag");
        if length > 0 {
            assert!(open(counter, b"header", &sealed, &mut out[1..]).is_err(), "no room for the text");
        }
    }
}

#[test]
fn without_a_key_or_without_room_nothing_is_sealed() {
    let mut out = [0xee; 40];
    assert_eq!(FastCipher::default().encrypt(0, b"", b"text", &mut out), 0);
    assert_eq!(both([1; 32])[1].encrypt(0, b"", &[5; 30], &mut out), 0);
    assert_eq!(out, [0xee; 40]);
}

#[test]
fn the_handshake_uses_it() {
    let cipher = crate::noise::cipher(&CipherChoice::ChaChaPoly).unwrap();
    assert_eq!(
        cipher.encrypt(0, b"", b"text", &mut [0; 40]),
        0,
        "without a key: pure Rust would seal with zeros"
    );
}
