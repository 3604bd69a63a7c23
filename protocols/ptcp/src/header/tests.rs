use super::{Addresses, HeaderError, Parsed, PtcpHeader, SetUp, emit};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader, Timestamps};
use proptest::prelude::*;

fn header() -> PtcpHeader {
    PtcpHeader {
        pipe: 3,
        virtual_bytes: 0x0102,
        source: 0x0304,
        destination: 0x0506,
        seq: SeqNumber(0x0708_090a),
        ack: SeqNumber(0x0b0c_0d0e),
    }
}

fn set_up() -> SetUp {
    SetUp {
        transmit_pipes: 4,
        receive_pipes: 2,
        window_shift: 7,
        token: 0x1122_3344_5566_7788,
        addresses: [IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V6(Ipv6Addr::LOCALHOST)]
            .into_iter()
            .collect(),
    }
}

fn tcp() -> TcpHeader {
    let mut tcp =
        TcpHeader { source_port: 1, destination_port: 2, flags: TcpFlags::ACK, ..TcpHeader::default() };
    tcp.options.timestamps = Some(Timestamps { value: 1, echo: 2 });
    tcp
}

#[test]
fn bytes_lie_where_the_picture_says() {
    let mut bytes = [0; 128];
    let length = emit(&header(), None, &tcp(), &mut bytes).unwrap();
    assert_eq!(length, 16 + 32);
    assert_eq!(bytes[..16], [0x10, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
    let length = emit(&header(), Some(&set_up()), &tcp(), &mut bytes).unwrap();
    assert_eq!(length, 16 + 12 + 5 + 17 + 32);
    assert_eq!(bytes[0], 0x11);
    assert_eq!(bytes[16..28], [4, 2, 7, 2, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88]);
    assert_eq!(bytes[28..33], [4, 10, 0, 0, 1]);
    assert_eq!(bytes[33], 6);
}

#[test]
fn what_cannot_be_is_refused() {
    let mut bytes = [0; 128];
    let length = emit(&header(), Some(&set_up()), &tcp(), &mut bytes).unwrap();
    for cut in 0..length {
        assert!(Parsed::parse(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    let change = |at: usize, to: u8| {
        let mut changed = bytes;
        changed[at] = to;
        Parsed::parse(&changed[..length])
    };
    assert_eq!(change(0, 0x21), Err(HeaderError::Version(2)));
    assert_eq!(change(0, 0x13), Err(HeaderError::Malformed), "unknown flag");
    assert_eq!(change(1, 8), Err(HeaderError::Malformed), "pipe out of range");
    assert_eq!(change(18, 15), Err(HeaderError::Malformed), "shift out of range");
    assert_eq!(change(19, 9), Err(HeaderError::Malformed), "too many addresses");
    assert_eq!(change(28, 5), Err(HeaderError::Malformed), "unknown family");
    let short = PtcpHeader { virtual_bytes: 3, ..header() };
    let length = emit(&short, None, &tcp(), &mut bytes).unwrap();
    assert!(Parsed::parse(&bytes[..length + 3]).is_ok());
    assert_eq!(Parsed::parse(&bytes[..length + 4]), Err(HeaderError::VirtualLength));
    assert!(emit(&short, None, &tcp(), &mut bytes[..20]).is_err());
}

#[test]
fn a_list_holds_eight_addresses() {
    let mut list = Addresses::default();
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    assert_eq!((0..9).filter(|_| list.push(address)).count(), 8);
}

proptest! {
    #[test]
    fn parsing_what_was_emitted_gives_the_same(
        numbers in (0u8..8, any::<u16>(), any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>()),
        block in prop::option::of((any::<u8>(), any::<u8>(), 0u8..15, any::<u64>())),
        addresses in prop::collection::vec((any::<bool>(), any::<u128>()), 0..9),
        payload in 0usize..200,
    ) {
        let (pipe, virtual_bytes, source, destination, seq, ack) = numbers;
        let virtual_bytes = virtual_bytes.max(payload as u16);
        let header = PtcpHeader {
            pipe, virtual_bytes, source, destination, seq: SeqNumber(seq), ack: SeqNumber(ack),
        };
        let address = |&(four, bits): &(bool, u128)| match four {
            true => IpAddr::V4(Ipv4Addr::from(bits as u32)),
            false => IpAddr::V6(Ipv6Addr::from(bits)),
        };
        let set_up = block.map(|(transmit_pipes, receive_pipes, window_shift, token)| SetUp {
            transmit_pipes, receive_pipes, window_shift, token, addresses: addresses.iter().map(address).collect(),
        });
        let mut bytes = [0; 600];
        let offset = emit(&header, set_up.as_ref(), &tcp(), &mut bytes).unwrap();
        let parsed = Parsed::parse(&bytes[..offset + payload]).unwrap();
        prop_assert_eq!(parsed, Parsed { header, set_up, tcp: tcp(), payload_offset: offset });
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let _ = Parsed::parse(&bytes);
    }
}
