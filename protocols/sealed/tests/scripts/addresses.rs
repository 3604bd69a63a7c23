//! Where a peer is: an address counts once the peer has answered there.
use super::support::{Ends, GATEWAY, MEMBER, PEER, address, at, connected, only, open, seal, sent, told};
use prismux_endpoint::Endpoint;
use prismux_sealed::{INITIATION_BYTES, Limits, Refusal, SessionEvent};

const NEW: &str = "203.0.113.5:50000";
const ATTACKER: &str = "203.0.113.66:666";
/// Long enough that three times as much is a handshake.
const DATA: [u8; 50] = [7; 50];

fn place(ends: &Ends) -> Option<std::net::SocketAddr> {
    ends.gateway.address(PEER)
}

#[test]
fn a_peer_that_moves_is_followed_after_one_round_trip() {
    let mut ends = connected(Limits::default());
    let data = seal(&mut ends.member, at(1000), &DATA).unwrap();
    open(&mut ends.gateway, at(1000), NEW, &data).unwrap();
    assert_eq!(place(&ends), Some(address(MEMBER)), "not yet");
    let probe = only(&mut ends.gateway, at(1000));
    assert_eq!((probe.to, probe.bytes.len()), (address(NEW), INITIATION_BYTES));
    open(&mut ends.member, at(1020), GATEWAY, &probe.bytes).unwrap();
    let answer = only(&mut ends.member, at(1020));
    open(&mut ends.gateway, at(1040), NEW, &answer.bytes).unwrap();
    let told = told(&mut ends.gateway);
    let moved = SessionEvent::Moved { peer: PEER, from: Some(address(MEMBER)), to: address(NEW) };
    assert!(told.contains(&moved), "{told:?}");
    assert_eq!(only(&mut ends.gateway, at(1040)).to, address(NEW));
    assert_eq!(place(&ends), Some(address(NEW)));
}

#[test]
fn a_packet_held_back_and_played_from_elsewhere_diverts_nothing() {
    let mut ends = connected(Limits::default());
    let held_back = seal(&mut ends.member, at(1000), &DATA).unwrap();
    open(&mut ends.gateway, at(1000), ATTACKER, &held_back).unwrap();
    assert_eq!(only(&mut ends.gateway, at(1000)).to, address(ATTACKER), "one question, and nothing else");
    for second in 2..60 {
        ends.gateway.handle_timeout(at(second * 1000));
        seal(&mut ends.gateway, at(second * 1000), &DATA).unwrap();
        assert_eq!(place(&ends), Some(address(MEMBER)));
    }
    let to_attacker =
        sent(&mut ends.gateway, at(60_000)).iter().filter(|t| t.to == address(ATTACKER)).count();
    assert!(to_attacker <= 2, "{to_attacker}");
}

#[test]
fn a_peer_that_is_back_needs_no_answer() {
    let mut ends = connected(Limits::default());
    let (held_back, next) =
        (seal(&mut ends.member, at(1000), &DATA), seal(&mut ends.member, at(1001), &DATA));
    open(&mut ends.gateway, at(1000), ATTACKER, &held_back.unwrap()).unwrap();
    open(&mut ends.gateway, at(1010), MEMBER, &next.unwrap()).unwrap();
    sent(&mut ends.gateway, at(1010));
    ends.gateway.handle_timeout(at(2500));
    let again = only(&mut ends.gateway, at(2500));
    assert_eq!(again.to, address(MEMBER), "the handshake goes on where the peer is");
}

#[test]
fn an_old_packet_from_elsewhere_is_no_move() {
    let mut ends = connected(Limits::default());
    let (first, second) = (seal(&mut ends.member, at(1000), &DATA), seal(&mut ends.member, at(1001), &DATA));
    open(&mut ends.gateway, at(1000), MEMBER, &second.unwrap()).unwrap();
    assert!(open(&mut ends.gateway, at(1000), NEW, &first.unwrap()).is_ok(), "reordered, and valid");
    assert_eq!(sent(&mut ends.gateway, at(1000)), []);
}

#[test]
fn little_is_not_answered_by_much() {
    let mut ends = connected(Limits::default());
    let sign_of_life = seal(&mut ends.member, at(1000), b"").unwrap();
    open(&mut ends.gateway, at(1000), NEW, &sign_of_life).unwrap();
    assert_eq!(
        sent(&mut ends.gateway, at(1000)),
        [],
        "32 bytes are no reason for 148 to an address nobody knows"
    );
}

#[test]
fn forged_packets_move_nobody() {
    let mut ends = connected(Limits::default());
    let mut forged = seal(&mut ends.member, at(1000), &DATA).unwrap();
    *forged.last_mut().unwrap() ^= 1;
    assert_eq!(open(&mut ends.gateway, at(1000), NEW, &forged), Err(Refusal::Forged));
    assert_eq!((sent(&mut ends.gateway, at(1000)), place(&ends)), (Vec::new(), Some(address(MEMBER))));
}

#[test]
fn a_first_call_held_back_and_played_from_elsewhere_gives_no_address() {
    let Ends { mut member, mut gateway } = super::support::ends(Limits::default());
    member.handle_input(at(0), PEER);
    let initiation = only(&mut member, at(0)).bytes;
    open(&mut gateway, at(0), ATTACKER, &initiation).unwrap();
    let response = only(&mut gateway, at(0)).bytes;
    // The attacker carries the answer to the member, whose next packet comes from where it is.
    open(&mut member, at(10), GATEWAY, &response).unwrap();
    let sign = only(&mut member, at(10)).bytes;
    open(&mut gateway, at(20), MEMBER, &sign).unwrap();
    assert_eq!(gateway.address(PEER), None, "nobody has received anything at an address of its own yet");
    let data = seal(&mut member, at(30), &DATA).unwrap();
    open(&mut gateway, at(40), MEMBER, &data).unwrap();
    let probe = only(&mut gateway, at(40));
    assert_eq!(probe.to, address(MEMBER));
    open(&mut member, at(50), GATEWAY, &probe.bytes).unwrap();
    open(&mut gateway, at(60), MEMBER, &only(&mut member, at(50)).bytes).unwrap();
    assert_eq!(gateway.address(PEER), Some(address(MEMBER)));
}
