//! How keys are renewed, and how long they last.
use super::support::{GATEWAY, MEMBER, PEER, at, connected, only, open, seal, sent};
use prismux_endpoint::Endpoint;
use prismux_sealed::{INITIATION_BYTES, Limits, NoSession, Refusal};
use prismux_units::Duration;

#[test]
fn who_began_renews_after_two_minutes_and_nothing_is_lost_meanwhile() {
    let mut ends = connected(Limits::default());
    seal(&mut ends.member, at(119_000), b"").unwrap();
    seal(&mut ends.gateway, at(121_000), b"").unwrap();
    assert_eq!(sent(&mut ends.member, at(121_000)), [], "not yet");
    assert_eq!(sent(&mut ends.gateway, at(121_000)), [], "the other end began");
    let early = seal(&mut ends.member, at(121_000), b"old keys").unwrap();
    let late_down = seal(&mut ends.gateway, at(121_000), b"old keys too").unwrap();
    let initiation = only(&mut ends.member, at(121_000));
    ends.answer(at(121_000), &initiation);
    let new = seal(&mut ends.member, at(121_100), b"new keys").unwrap();
    assert_eq!(open(&mut ends.gateway, at(121_200), MEMBER, &new), Ok(b"new keys".to_vec()));
    assert_eq!(open(&mut ends.gateway, at(121_300), MEMBER, &early), Ok(b"old keys".to_vec()));
    assert_eq!(open(&mut ends.member, at(121_300), GATEWAY, &late_down), Ok(b"old keys too".to_vec()));
}

#[test]
fn an_end_that_only_listens_renews_too() {
    let mut ends = connected(Limits::default());
    for (second, renews) in [(164, false), (166, true)] {
        let down = seal(&mut ends.gateway, at(second * 1000), b"down").unwrap();
        open(&mut ends.member, at(second * 1000), GATEWAY, &down).unwrap();
        assert_eq!(!sent(&mut ends.member, at(second * 1000)).is_empty(), renews, "at {second} s");
    }
}

#[test]
fn old_keys_open_and_seal_nothing() {
    let mut ends = connected(Limits::default());
    let recorded = seal(&mut ends.member, at(1000), b"data").unwrap();
    let last = seal(&mut ends.gateway, at(179_999), b"data");
    assert!(last.is_ok());
    assert_eq!(open(&mut ends.gateway, at(180_000), MEMBER, &recorded), Err(Refusal::Expired));
    ends.gateway.handle_timeout(at(180_000));
    assert_eq!(
        open(&mut ends.gateway, at(180_000), MEMBER, &recorded),
        Err(Refusal::Stranger),
        "keys are gone"
    );
    assert_eq!(seal(&mut ends.gateway, at(180_001), b"data"), Err(NoSession::Handshaking));
    let initiation = only(&mut ends.gateway, at(180_001));
    assert_eq!(initiation.to, MEMBER.parse().unwrap(), "the gateway calls where the member was");
}

#[test]
fn keys_are_renewed_after_so_many_packets_and_end_after_so_many() {
    let limits = Limits { rekey_after_packets: 100, reject_after_packets: 120, ..Limits::default() };
    let mut ends = connected(limits);
    let mut sealed = 0;
    let mut renewed_at = None;
    while seal(&mut ends.gateway, at(10), b"packet").is_ok() {
        sealed += 1;
        if !sent(&mut ends.gateway, at(10)).is_empty() {
            renewed_at.get_or_insert(sealed);
        }
    }
    assert_eq!((renewed_at, sealed), (Some(100), 120));
}

#[test]
fn of_two_ends_that_begin_at_once_each_renews_its_own_keys() {
    let mut ends = connected(Limits::default());
    // Calls cross each other, and so do the answers and the first signs of life under the new keys.
    ends.member.handle_input(at(1000), PEER);
    ends.gateway.handle_input(at(1000), PEER);
    for step in 1..=3 {
        let now = at(1000 + step * 20);
        let (up, down) = (only(&mut ends.member, now), only(&mut ends.gateway, now));
        open(&mut ends.gateway, now, MEMBER, &up.bytes).unwrap();
        open(&mut ends.member, now, GATEWAY, &down.bytes).unwrap();
    }
    let now = at(122_000);
    let (up, down) =
        (seal(&mut ends.member, now, b"up").unwrap(), seal(&mut ends.gateway, now, b"down").unwrap());
    for end in [&mut ends.member, &mut ends.gateway] {
        assert_eq!(only(end, now).bytes.len(), INITIATION_BYTES, "whose keys they are begins anew");
    }
    assert_eq!(open(&mut ends.gateway, now, MEMBER, &up), Ok(b"up".to_vec()));
    assert_eq!(open(&mut ends.member, now, GATEWAY, &down), Ok(b"down".to_vec()));
}

#[test]
fn silence_after_data_asks_for_new_keys() {
    let mut ends = connected(Limits::default());
    seal(&mut ends.member, at(1000), b"into the void").unwrap();
    seal(&mut ends.member, at(9000), b"again").unwrap();
    ends.member.handle_timeout(at(15_999));
    assert_eq!(sent(&mut ends.member, at(15_999)), []);
    ends.member.handle_timeout(at(16_000));
    // The other end has been restarted: it knows no keys, and answers the call.
    let initiation = only(&mut ends.member, at(16_000));
    ends.answer(at(16_000), &initiation);
}

#[test]
fn who_has_nothing_to_say_says_so() {
    let mut ends = connected(Limits::default());
    let data = seal(&mut ends.member, at(1000), b"data").unwrap();
    open(&mut ends.gateway, at(1000), MEMBER, &data).unwrap();
    let due = ends.gateway.poll_timeout().unwrap().at;
    assert_eq!(due, at(1000) + Duration::from_secs(10));
    ends.gateway.handle_timeout(due);
    let sign = only(&mut ends.gateway, due);
    assert_eq!(open(&mut ends.member, due, GATEWAY, &sign.bytes), Ok(Vec::new()));
    ends.member.handle_timeout(at(60_000));
    assert_eq!(sent(&mut ends.member, at(60_000)), [], "a sign of life needs none");
    assert!(ends.member.address(PEER).is_some());
}
