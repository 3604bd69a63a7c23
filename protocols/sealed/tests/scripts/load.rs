//! Under load callers show that they are at their addresses first.
use super::support::{Ends, GATEWAY, MEMBER, PEER, at, ends, keys, only, open, sent, stranger};
use prismux_endpoint::Endpoint;
use prismux_sealed::{INITIATION_BYTES, Limits, Refusal, Sessions};

const COOKIE_REPLY_BYTES: usize = 64;

/// Strangers who know the gateway's key call until it asks for cookies. Returns what they say.
fn flood(gateway: &mut Sessions) -> Vec<u8> {
    let mut flooder = stranger(keys(2).public());
    flooder.handle_input(at(0), PEER);
    let initiation = only(&mut flooder, at(0)).bytes;
    for _ in 0..100 {
        assert_eq!(open(gateway, at(0), "203.0.113.66:666", &initiation), Err(Refusal::Stranger));
    }
    assert_eq!(sent(gateway, at(0)), [], "silent so far");
    assert_eq!(open(gateway, at(0), "203.0.113.66:666", &initiation), Err(Refusal::Overloaded));
    assert_eq!(only(gateway, at(0)).bytes.len(), COOKIE_REPLY_BYTES);
    initiation
}

#[test]
fn a_member_gets_in_during_a_flood() {
    let Ends { mut member, mut gateway } = ends(Limits::default());
    let strangers = flood(&mut gateway);
    member.handle_input(at(0), PEER);
    let first = only(&mut member, at(0)).bytes;
    assert_eq!(open(&mut gateway, at(0), MEMBER, &first), Err(Refusal::Overloaded));
    let cookie = only(&mut gateway, at(0)).bytes;
    assert!(cookie.len() == COOKIE_REPLY_BYTES && cookie.len() < INITIATION_BYTES);
    open(&mut member, at(1), GATEWAY, &cookie).unwrap();
    member.handle_timeout(at(1200));
    let second = only(&mut member, at(1200)).bytes;
    assert_ne!(second[132..], [0; 16], "with the cookie");
    // The flood goes on.
    for _ in 0..1000 {
        let _ = open(&mut gateway, at(1200), "203.0.113.66:666", &strangers);
    }
    sent(&mut gateway, at(1200));
    open(&mut gateway, at(1200), MEMBER, &second).unwrap();
    open(&mut member, at(1210), GATEWAY, &only(&mut gateway, at(1200)).bytes).unwrap();
}

#[test]
fn a_cookie_is_worth_nothing_elsewhere_or_changed() {
    let Ends { mut member, mut gateway } = ends(Limits::default());
    let strangers = flood(&mut gateway);
    member.handle_input(at(0), PEER);
    let first = only(&mut member, at(0)).bytes;
    let _ = open(&mut gateway, at(0), MEMBER, &first);
    let cookie = only(&mut gateway, at(0)).bytes;
    let mut changed = cookie.clone();
    changed[40] ^= 1;
    assert_eq!(open(&mut member, at(0), GATEWAY, &changed), Err(Refusal::Forged));
    open(&mut member, at(0), GATEWAY, &cookie).unwrap();
    member.handle_timeout(at(1200));
    let second = only(&mut member, at(1200)).bytes;
    for _ in 0..101 {
        let _ = open(&mut gateway, at(1200), "203.0.113.66:666", &strangers);
    }
    sent(&mut gateway, at(1200));
    assert_eq!(open(&mut gateway, at(1200), "203.0.113.7:40000", &second), Err(Refusal::Overloaded));
    sent(&mut gateway, at(1200));
    assert!(open(&mut gateway, at(1200), MEMBER, &second).is_ok());
}

#[test]
fn one_address_with_a_cookie_may_not_call_without_end() {
    let Ends { mut member, mut gateway } = ends(Limits::default());
    flood(&mut gateway);
    member.handle_input(at(0), PEER);
    let _ = open(&mut gateway, at(0), MEMBER, &only(&mut member, at(0)).bytes);
    open(&mut member, at(0), GATEWAY, &only(&mut gateway, at(0)).bytes).unwrap();
    member.handle_timeout(at(1200));
    let second = only(&mut member, at(1200)).bytes;
    let handled =
        (0..1000).filter(|_| open(&mut gateway, at(1200), MEMBER, &second) != Err(Refusal::Overloaded));
    assert_eq!(handled.count(), 5, "the burst; one answered, four played back");
}
