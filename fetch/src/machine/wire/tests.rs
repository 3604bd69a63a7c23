use super::*;
use proptest::prelude::*;

fn emitted(datagram: &Datagram<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    datagram.emit(&mut out);
    out
}

#[test]
fn every_type_is_read_as_it_was_written() {
    let (client, cookie, token, noise) = (ConnectionId(0x0102_0304_0506_0708), [9; 24], [7; 16], [3; 60]);
    let datagrams = [
        Datagram::Hello { client, cookie: &cookie, noise: &noise },
        Datagram::Retry { client, cookie: &cookie },
        Datagram::Welcome { client, noise: &noise },
        Datagram::Sealed { to: client, nonce: u64::MAX - 1, noise: &noise },
        Datagram::StatelessReset { server: client, token: &token },
        Datagram::Notice { client, version: 3 },
    ];
    for datagram in datagrams {
        assert_eq!(Datagram::parse(&emitted(&datagram)), Ok(datagram));
    }
}

#[test]
fn a_sealed_datagram_has_its_fields_where_the_documentation_says() {
    let bytes = emitted(&Datagram::Sealed { to: ConnectionId(0xaabb), nonce: 5, noise: &[1; 17] });
    assert_eq!(bytes[..4], [0x14, 0, 0, 0]);
    assert_eq!(bytes[4..12], [0, 0, 0, 0, 0, 0, 0xaa, 0xbb]);
    assert_eq!(bytes[12..20], [0, 0, 0, 0, 0, 0, 0, 5]);
    assert_eq!(bytes.len(), SEALED_HEADER_BYTES + 17);
}

#[test]
fn a_hello_of_another_version_names_who_waits_for_the_notice() {
    let mut bytes = emitted(&Datagram::Hello { client: ConnectionId(6), cookie: &[0; 24], noise: &[0; 48] });
    bytes[0] = 0x21;
    assert_eq!(Datagram::parse(&bytes), Err(DatagramError::Version(ConnectionId(6))));
}

#[test]
fn answers_to_unvalidated_addresses_are_shorter_than_what_they_answer() {
    const {
        assert!(RETRY_BYTES < HELLO_HEADER_BYTES + MIN_HANDSHAKE_BYTES);
        assert!(NOTICE_BYTES <= COMMON_BYTES);
        assert!(STATELESS_RESET_BYTES < SEALED_HEADER_BYTES + MIN_SEALED_BYTES);
    }
}

proptest! {
    #[test]
    fn what_is_read_can_be_written_and_is_the_same(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in 1u8..8,
    ) {
        let mut bytes = bytes;
        if bytes.len() >= 4 {
            bytes[..4].copy_from_slice(&[VERSION << 4 | kind, 0, 0, 0]);
        }
        if let Ok(datagram) = Datagram::parse(&bytes) {
            prop_assert_eq!(&emitted(&datagram)[1..], &bytes[1..]);
        }
    }
}
