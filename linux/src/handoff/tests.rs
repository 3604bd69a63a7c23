use super::estimates::nominal;
use super::news::read_news;
use super::{InterfaceTable, LinkNews, Move};
use prismux_endpoint::random::Seed;
use prismux_units::Rate;
use std::net::IpAddr;

fn ip(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

fn link(index: u32, name: &str, running: bool) -> LinkNews {
    LinkNews::Link { index, name: name.to_owned(), running }
}

fn complete(interface: &str, address: &str) -> Option<Move> {
    Some(Move::Complete { interface: interface.to_owned(), address: ip(address) })
}

fn lost(interface: &str) -> Option<Move> {
    Some(Move::Lost { interface: interface.to_owned() })
}

#[test]
fn a_handoff_is_complete_when_link_and_address_are_there_in_either_order() {
    let mut table = InterfaceTable::default();
    assert_eq!(table.take(link(2, "wlan0", true)), None);
    let address = LinkNews::Address { index: 2, address: ip("10.0.0.2") };
    assert_eq!(table.take(address.clone()), complete("wlan0", "10.0.0.2"));
    assert_eq!(table.take(address), None, "known already");
    assert_eq!(table.take(link(2, "wlan0", true)), None, "nothing new");
    assert_eq!(table.take(link(2, "wlan0", false)), lost("wlan0"));
    assert_eq!(table.take(link(2, "wlan0", true)), complete("wlan0", "10.0.0.2"));

    assert_eq!(table.take(LinkNews::Address { index: 3, address: ip("fd00::3") }), None);
    assert_eq!(table.take(link(3, "wwan0", false)), None);
    assert_eq!(table.take(link(3, "wwan0", true)), complete("wwan0", "fd00::3"));
    assert_eq!(table.usable().collect::<Vec<_>>(), ["wlan0", "wwan0"]);
    assert_eq!(table.take(LinkNews::LinkGone { index: 3 }), lost("wwan0"));
    assert_eq!(table.take(LinkNews::LinkGone { index: 3 }), None);
}

#[test]
fn another_address_on_a_working_interface_is_a_handoff() {
    let mut table = InterfaceTable::default();
    table.take(link(2, "wlan0", true));
    table.take(LinkNews::Address { index: 2, address: ip("10.0.0.2") });
    let moved = table.take(LinkNews::Address { index: 2, address: ip("10.1.0.9") });
    assert_eq!(moved, complete("wlan0", "10.1.0.9"));
    assert_eq!(table.take(LinkNews::AddressGone { index: 2, address: ip("10.0.0.2") }), None);
    assert_eq!(table.take(LinkNews::AddressGone { index: 2, address: ip("10.1.0.9") }), lost("wlan0"));
}

#[test]
fn after_an_overrun_only_what_changed_counts() {
    let mut before = InterfaceTable::default();
    for (index, name) in [(2, "stays"), (3, "goes"), (4, "moves")] {
        before.take(link(index, name, true));
        before.take(LinkNews::Address { index, address: ip("10.0.0.2") });
    }
    let mut after = before.clone();
    after.take(LinkNews::LinkGone { index: 3 });
    after.take(LinkNews::Address { index: 4, address: ip("10.0.0.7") });
    after.take(link(5, "comes", true));
    after.take(LinkNews::Address { index: 5, address: ip("10.0.0.9") });
    let moves = before.replace(after);
    let expected = [lost("goes"), complete("moves", "10.0.0.7"), complete("comes", "10.0.0.9")];
    assert_eq!(moves.into_iter().map(Some).collect::<Vec<_>>(), expected);
}

/// One message: header, family header, attributes.
fn message(kind: u16, family_header: &[u8], attributes: &[(u16, &[u8])]) -> Vec<u8> {
    let mut bytes = vec![0; 16];
    bytes.extend_from_slice(family_header);
    for (kind, value) in attributes {
        bytes.extend_from_slice(&(4 + value.len() as u16).to_ne_bytes());
        bytes.extend_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    let length = bytes.len() as u32;
    bytes[..4].copy_from_slice(&length.to_ne_bytes());
    bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
    bytes
}

fn link_message(flags: i32) -> Vec<u8> {
    let mut header = [0; 16];
    header[4] = 7;
    header[8..12].copy_from_slice(&flags.to_ne_bytes());
    message(libc::RTM_NEWLINK, &header, &[(99, b"?"), (libc::IFLA_IFNAME, b"wlan0\0")])
}

fn address_message(scope: u8, flags: u32) -> Vec<u8> {
    let header = [libc::AF_INET as u8, 24, 0, scope, 7, 0, 0, 0];
    let attributes: [(u16, &[u8]); 3] = [
        (libc::IFA_ADDRESS, &[10, 0, 0, 1]),
        (libc::IFA_LOCAL, &[10, 0, 0, 2]),
        (libc::IFA_FLAGS, &flags.to_ne_bytes()),
    ];
    message(libc::RTM_NEWADDR, &header, &attributes)
}

fn read(bytes: &[u8]) -> (Vec<LinkNews>, u64) {
    let mut unreadable = 0;
    let news = read_news(bytes, &mut unreadable);
    (news, unreadable)
}

// On a little-endian machine the index 7 is the header's first byte of the word.
#[test]
#[cfg(target_endian = "little")]
fn messages_of_the_kernel_are_read() {
    let both = [link_message(libc::IFF_UP | libc::IFF_RUNNING), address_message(0, 0)].concat();
    let expected = vec![link(7, "wlan0", true), LinkNews::Address { index: 7, address: ip("10.0.0.2") }];
    assert_eq!(read(&both), (expected, 0));
    assert_eq!(read(&link_message(libc::IFF_UP)).0, [link(7, "wlan0", false)]);
    assert_eq!(read(&link_message(libc::IFF_LOOPBACK | libc::IFF_UP)).0, []);
    assert_eq!(read(&address_message(253, 0)).0, [], "of the link only");
    assert_eq!(read(&address_message(0, 0x40)).0, [], "still being checked");
    assert_eq!(
        read(&message(libc::NLMSG_ERROR as u16, &(-1i32).to_ne_bytes(), &[])).0,
        [LinkNews::Refused(1)]
    );
}

#[test]
fn broken_messages_are_counted_and_never_panic() {
    let whole = [link_message(libc::IFF_UP), address_message(0, 0)].concat();
    for length in 1..whole.len() {
        let (news, unreadable) = read(&whole[..length]);
        assert!(
            news.len() as u64 + unreadable <= 2 && (length % 4 == 0 || unreadable > 0 || news.len() == 1)
        );
    }
    assert_eq!(read(&message(libc::RTM_NEWADDR, &[2], &[])), (vec![], 1));
    let mut random = Seed(1).stream("netlink");
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..1 + random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = random.next_u64() as u8;
        }
        bytes.truncate(random.below(bytes.len() as u64 + 1) as usize);
        read(&bytes);
    }
}

#[test]
fn a_drivers_rate_counts_unless_it_is_none() {
    assert_eq!(nominal("1000\n"), Some(Rate::from_mbps(1000)));
    for unknown in ["-1\n", "0", "", "fast", "4294967295"] {
        assert_eq!(nominal(unknown), None, "{unknown}");
    }
}
