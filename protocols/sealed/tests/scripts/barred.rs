//! A peer whose rights have been taken away, and one that gets them back.
use super::support::{GATEWAY, MEMBER, PEER, at, connected, ends, only, open, seal, sent, told};
use prismux_endpoint::Endpoint;
use prismux_sealed::{Limits, NoSession, Refusal};

#[test]
fn a_barred_peer_is_a_stranger_at_once_and_cannot_come_back() {
    let mut ends = ends(Limits::default());
    ends.shake_hands(at(0));
    let under_way = seal(&mut ends.member, at(1000), b"under way").unwrap();
    ends.gateway.bar(PEER);
    assert_eq!(told(&mut ends.gateway), [], "nor is anything told of it");
    assert_eq!(open(&mut ends.gateway, at(1001), MEMBER, &under_way), Err(Refusal::Stranger));
    assert_eq!(seal(&mut ends.gateway, at(1001), b"down"), Err(NoSession::NoAddress));
    // It has its key still, calls again and again, and is not answered.
    for second in [2, 10, 300] {
        ends.member.handle_input(at(second * 1000), PEER);
        for initiation in sent(&mut ends.member, at(second * 1000)) {
            let refused = open(&mut ends.gateway, at(second * 1000), MEMBER, &initiation.bytes);
            assert_eq!(refused, Err(Refusal::Stranger), "at {second} s");
        }
        ends.member.handle_timeout(at(second * 1000));
    }
    ends.gateway.handle_input(at(301_000), PEER);
    ends.gateway.handle_timeout(at(400_000));
    assert_eq!(sent(&mut ends.gateway, at(400_000)), [], "it is not called either");
    assert_eq!(told(&mut ends.gateway), []);
}

#[test]
fn an_answer_that_was_under_way_makes_no_keys() {
    let mut ends = connected(Limits::default());
    ends.gateway.handle_input(at(1000), PEER);
    let initiation = only(&mut ends.gateway, at(1000));
    open(&mut ends.member, at(1001), GATEWAY, &initiation.bytes).unwrap();
    let answer = only(&mut ends.member, at(1001));
    ends.gateway.bar(PEER);
    assert_eq!(open(&mut ends.gateway, at(1002), MEMBER, &answer.bytes), Err(Refusal::Stranger));
    assert_eq!(seal(&mut ends.gateway, at(1003), b"down"), Err(NoSession::NoAddress));
}

#[test]
fn who_gets_its_rights_back_has_to_call_and_nothing_older_counts() {
    let mut ends = connected(Limits::default());
    ends.member.handle_input(at(500_000), PEER);
    let recorded = only(&mut ends.member, at(500_000));
    ends.answer(at(500_000), &recorded);
    ends.gateway.bar(PEER);
    ends.gateway.unbar(PEER, None);
    let played_back = open(&mut ends.gateway, at(501_000), MEMBER, &recorded.bytes);
    assert_eq!(played_back, Err(Refusal::Replayed));
    assert_eq!(seal(&mut ends.gateway, at(501_000), b"down"), Err(NoSession::NoAddress));
    ends.shake_hands(at(502_000));
    let up = seal(&mut ends.member, at(502_001), b"up").unwrap();
    assert_eq!(open(&mut ends.gateway, at(502_001), MEMBER, &up), Ok(b"up".to_vec()));
}
