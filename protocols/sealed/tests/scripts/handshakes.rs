//! How keys come about, and what strangers get: nothing.
use super::support::{
    Ends, GATEWAY, MEMBER, PEER, address, at, connected, end, ends, keys, only, open, seal, sent, stranger,
    told,
};
use prismux_endpoint::Endpoint;
use prismux_sealed::{
    INITIATION_BYTES, Limits, NoSession, OVERHEAD_BYTES, RESPONSE_BYTES, Refusal, SessionEvent,
};

const LIMITS: fn() -> Limits = Limits::default;

#[test]
fn two_messages_and_a_sign_of_life_make_keys() {
    let Ends { mut member, mut gateway } = ends(LIMITS());
    assert_eq!(seal(&mut gateway, at(0), b"early"), Err(NoSession::NoAddress));
    assert_eq!(seal(&mut member, at(0), b"early"), Err(NoSession::Handshaking), "which asks for keys");
    let initiation = only(&mut member, at(0));
    assert_eq!((initiation.to, initiation.bytes.len()), (address(GATEWAY), INITIATION_BYTES));
    open(&mut gateway, at(20), MEMBER, &initiation.bytes).unwrap();
    let response = only(&mut gateway, at(20));
    assert_eq!((response.to, response.bytes.len()), (address(MEMBER), RESPONSE_BYTES));
    assert_eq!(told(&mut gateway), [], "a recorded first message would have come as far");
    open(&mut member, at(40), GATEWAY, &response.bytes).unwrap();
    assert_eq!(told(&mut member), [SessionEvent::Established { peer: PEER }]);
    let sign = only(&mut member, at(40));
    assert_eq!(sign.bytes.len(), OVERHEAD_BYTES);
    assert_eq!(open(&mut gateway, at(60), MEMBER, &sign.bytes), Ok(Vec::new()));
    let moved = SessionEvent::Moved { peer: PEER, from: None, to: address(MEMBER) };
    assert_eq!(told(&mut gateway), [SessionEvent::Established { peer: PEER }, moved]);

    let up = seal(&mut member, at(70), b"from a receiver").unwrap();
    assert_eq!(up.len(), 15 + OVERHEAD_BYTES);
    assert_eq!(open(&mut gateway, at(90), MEMBER, &up), Ok(b"from a receiver".to_vec()));
    let down = seal(&mut gateway, at(90), b"to a receiver").unwrap();
    assert_eq!(open(&mut member, at(110), GATEWAY, &down), Ok(b"to a receiver".to_vec()));
}

#[test]
fn the_layout_is_wireguards() {
    let Ends { mut member, mut gateway } = ends(LIMITS());
    member.handle_input(at(0), PEER);
    let initiation = only(&mut member, at(0)).bytes;
    open(&mut gateway, at(0), MEMBER, &initiation).unwrap();
    let response = only(&mut gateway, at(0)).bytes;
    open(&mut member, at(0), GATEWAY, &response).unwrap();
    let sign = only(&mut member, at(0)).bytes;
    assert_eq!([&initiation[..4], &response[..4], &sign[..4]], [[1, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0]]);
    assert_eq!(initiation[132..], [0; 16], "no cookie");
    assert_eq!(response[8..12], initiation[4..8], "the caller's name for the session");
    assert_eq!(sign[4..8], response[4..8], "the other end's");
    assert_eq!(sign[8..16], [0; 8], "the first counter");
}

#[test]
fn an_initiation_is_repeated_with_back_off_and_given_up() {
    let Ends { mut member, .. } = ends(LIMITS());
    member.handle_input(at(0), PEER);
    let (mut times, mut bytes) = (vec![0], vec![only(&mut member, at(0)).bytes]);
    while let Some(deadline) = member.poll_timeout() {
        member.handle_timeout(deadline.at);
        for repeated in sent(&mut member, deadline.at) {
            times.push(deadline.at.as_nanos() / 1_000_000);
            bytes.push(repeated.bytes);
        }
    }
    let waits: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (wait, least) in waits.iter().zip([1000, 2000, 4000, 5000, 5000, 5000]) {
        assert!((least..=least + least / 8).contains(wait), "{waits:?}");
    }
    assert!((17..=20).contains(&times.len()) && times.last() < Some(&96_000), "{times:?}");
    bytes.sort();
    bytes.dedup();
    assert_eq!(bytes.len(), times.len(), "each with a key and a time of its own");
}

#[test]
fn a_lost_answer_or_sign_of_life_does_not_matter() {
    let mut ends = ends(LIMITS());
    ends.member.handle_input(at(0), PEER);
    let first = only(&mut ends.member, at(0));
    open(&mut ends.gateway, at(0), MEMBER, &first.bytes).unwrap();
    let lost = only(&mut ends.gateway, at(0));
    ends.member.handle_timeout(at(1200));
    let second = only(&mut ends.member, at(1200));
    open(&mut ends.gateway, at(1200), MEMBER, &second.bytes).unwrap();
    let response = only(&mut ends.gateway, at(1200));
    assert_eq!(
        open(&mut ends.member, at(1210), GATEWAY, &lost.bytes),
        Err(Refusal::Stranger),
        "to the first"
    );
    open(&mut ends.member, at(1220), GATEWAY, &response.bytes).unwrap();
    let _lost = only(&mut ends.member, at(1220));
    let data = seal(&mut ends.member, at(1300), b"data").unwrap();
    assert_eq!(open(&mut ends.gateway, at(1320), MEMBER, &data), Ok(b"data".to_vec()));
    let answer = seal(&mut ends.gateway, at(1320), b"answer").unwrap();
    assert_eq!(open(&mut ends.member, at(1340), GATEWAY, &answer), Ok(b"answer".to_vec()));
}

#[test]
fn ends_that_call_at_once_understand_each_other() {
    let Ends { mut member, .. } = ends(LIMITS());
    let mut gateway = end(2, LIMITS());
    gateway.add_peer(keys(1).public(), Some(address(MEMBER)));
    member.handle_input(at(0), PEER);
    gateway.handle_input(at(0), PEER);
    let (up, down) = (only(&mut member, at(0)), only(&mut gateway, at(0)));
    open(&mut gateway, at(10), MEMBER, &up.bytes).unwrap();
    open(&mut member, at(10), GATEWAY, &down.bytes).unwrap();
    let (up, down) = (only(&mut member, at(10)), only(&mut gateway, at(10)));
    open(&mut gateway, at(20), MEMBER, &up.bytes).unwrap();
    open(&mut member, at(20), GATEWAY, &down.bytes).unwrap();
    for now in [at(30), at(40)] {
        let (up, down) = (seal(&mut member, now, b"up").unwrap(), seal(&mut gateway, now, b"down").unwrap());
        assert_eq!(open(&mut gateway, now, MEMBER, &up), Ok(b"up".to_vec()));
        assert_eq!(open(&mut member, now, GATEWAY, &down), Ok(b"down".to_vec()));
    }
}

#[test]
fn a_stranger_gets_no_answer() {
    let Ends { mut gateway, .. } = ends(LIMITS());
    // Knows the gateway's key, is not known itself.
    let mut unknown = stranger(keys(2).public());
    unknown.handle_input(at(0), PEER);
    let initiation = only(&mut unknown, at(0)).bytes;
    assert_eq!(open(&mut gateway, at(0), MEMBER, &initiation), Err(Refusal::Stranger));
    // Does not know it, though its own key is known.
    let mut wrong = end(1, LIMITS());
    wrong.add_peer(keys(3).public(), Some(address(GATEWAY)));
    wrong.handle_input(at(0), PEER);
    let initiation = only(&mut wrong, at(0)).bytes;
    assert_eq!(open(&mut gateway, at(0), MEMBER, &initiation), Err(Refusal::Stranger));
    // Says something else.
    for bytes in [&b""[..], b"hello", &[4, 0, 0, 0], &[1; 148], &[4; 1400], &[2; 92], &[3; 64]] {
        assert_eq!(open(&mut gateway, at(0), MEMBER, bytes), Err(Refusal::Malformed), "{bytes:?}");
    }
    let mut data = vec![0; 100];
    data[0] = 4;
    assert_eq!(open(&mut gateway, at(0), MEMBER, &data), Err(Refusal::Stranger));
    assert_eq!((sent(&mut gateway, at(0)), told(&mut gateway)), (Vec::new(), Vec::new()));
}

#[test]
fn what_was_recorded_is_worth_nothing() {
    let mut ends = ends(LIMITS());
    ends.member.handle_input(at(0), PEER);
    let initiation = only(&mut ends.member, at(0));
    open(&mut ends.gateway, at(0), MEMBER, &initiation.bytes).unwrap();
    let response = only(&mut ends.gateway, at(0));
    open(&mut ends.member, at(0), GATEWAY, &response.bytes).unwrap();
    let sign = only(&mut ends.member, at(0));
    open(&mut ends.gateway, at(0), MEMBER, &sign.bytes).unwrap();
    let data = seal(&mut ends.member, at(10), b"data").unwrap();
    open(&mut ends.gateway, at(10), MEMBER, &data).unwrap();
    told(&mut ends.gateway);
    for (from, played) in
        [(MEMBER, &initiation.bytes), ("203.0.113.9:9", &sign.bytes), ("203.0.113.9:9", &data)]
    {
        assert_eq!(open(&mut ends.gateway, at(1000), from, played), Err(Refusal::Replayed));
    }
    assert!(open(&mut ends.member, at(1000), GATEWAY, &response.bytes).is_err());
    assert_eq!((sent(&mut ends.gateway, at(1000)), told(&mut ends.gateway)), (Vec::new(), Vec::new()));
    assert_eq!(ends.gateway.address(PEER), Some(address(MEMBER)));
}

#[test]
fn any_changed_bit_is_refused() {
    let mut ends = connected(LIMITS());
    let data = seal(&mut ends.member, at(10), b"data").unwrap();
    for bit in 0..data.len() * 8 {
        let mut changed = data.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(open(&mut ends.gateway, at(10), MEMBER, &changed).is_err(), "bit {bit}");
    }
    assert_eq!(
        open(&mut ends.gateway, at(10), MEMBER, &data),
        Ok(b"data".to_vec()),
        "the true one still passes"
    );
    ends.member.handle_input(at(2000), PEER);
    let initiation = only(&mut ends.member, at(2000)).bytes;
    for bit in 0..132 * 8 {
        let mut changed = initiation.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        assert!(open(&mut ends.gateway, at(2000), MEMBER, &changed).is_err(), "bit {bit} of an initiation");
    }
    assert_eq!(sent(&mut ends.gateway, at(2000)), []);
}

#[test]
fn one_peer_is_not_another() {
    let mut gateway = end(2, LIMITS());
    let ids = [1, 3].map(|seed| gateway.add_peer(keys(seed).public(), None).unwrap());
    assert_eq!(gateway.add_peer(keys(3).public(), None), None, "twice the same");
    for (seed, id) in [1, 3].into_iter().zip(ids) {
        let mut member = end(seed, LIMITS());
        member.add_peer(keys(2).public(), Some(address(GATEWAY)));
        member.handle_input(at(0), PEER);
        open(&mut gateway, at(0), MEMBER, &only(&mut member, at(0)).bytes).unwrap();
        open(&mut member, at(0), GATEWAY, &only(&mut gateway, at(0)).bytes).unwrap();
        let sign = only(&mut member, at(0)).bytes;
        let opened = gateway.open(at(0), address(MEMBER), &sign, &mut Vec::new()).unwrap();
        assert_eq!(opened, prismux_sealed::Opened::Payload { peer: id });
    }
}
