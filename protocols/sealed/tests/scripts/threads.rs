//! Numbers given out and taken note of on one thread, sealing and opening on others.
use super::support::{Ends, GATEWAY, MEMBER, PEER, address, at, connected, open};
use prismux_sealed::{Limits, OVERHEAD_BYTES, Refusal, WINDOW};

/// Compiles for what may go to another thread.
fn let_another_have(_: &(impl Send + 'static)) {}

#[test]
fn what_others_seal_is_what_this_thread_would_have_sealed() {
    let Ends { mut member, mut gateway } = connected(Limits::default());
    let reserved: Vec<_> = (0..3).map(|_| member.reserve(at(100), PEER, true).unwrap()).collect();
    assert!(reserved.windows(2).all(|pair| pair[0].keys.are_same(&pair[1].keys)));
    for reserved in reserved {
        let_another_have(&reserved);
        assert_eq!(reserved.to, address(GATEWAY));
        let mut room = [0; 6 + OVERHEAD_BYTES];
        assert_eq!(reserved.keys.seal(reserved.counter, b"packet", &mut room), room.len());
        assert_eq!(open(&mut gateway, at(110), MEMBER, &room), Ok(b"packet".to_vec()));
    }
    let reserved = member.reserve(at(100), PEER, true).unwrap();
    assert_eq!(reserved.keys.seal(reserved.counter, b"packet", &mut [0; 37]), 0, "too little room");
}

#[test]
fn what_others_open_is_taken_once() {
    let Ends { mut member, mut gateway } = connected(Limits::default());
    let mut datagram = Vec::new();
    member.seal(at(100), PEER, &[b"packet"], &mut datagram).unwrap();
    // It came twice before either was opened.
    let [first, second] = [(), ()].map(|()| gateway.examine(at(110), &datagram).unwrap().unwrap());
    for (ticket, sealed) in [&first, &second] {
        let_another_have(ticket);
        let mut room = vec![0; sealed.len()];
        assert_eq!(ticket.keys.open(ticket.counter, sealed, &mut room), Some(6));
        assert_eq!(&room[..6], b"packet");
    }
    assert_eq!(gateway.accept(at(110), address(MEMBER), &first.0, 6), Ok(PEER));
    assert_eq!(gateway.accept(at(110), address(MEMBER), &second.0, 6), Err(Refusal::Replayed));
    assert_eq!(gateway.examine(at(110), &datagram).unwrap_err(), Refusal::Replayed);
}

#[test]
fn what_is_opened_too_late_or_under_keys_that_are_gone_is_refused() {
    let Ends { mut member, mut gateway } = connected(Limits::default());
    let (mut early, mut late) = (Vec::new(), Vec::new());
    member.seal(at(100), PEER, &[b"early"], &mut early).unwrap();
    for _ in 0..=WINDOW {
        member.seal(at(100), PEER, &[b"late"], &mut late).unwrap();
    }
    let (early, _) = gateway.examine(at(110), &early).unwrap().unwrap();
    assert_eq!(open(&mut gateway, at(110), MEMBER, &late), Ok(b"late".to_vec()));
    assert_eq!(gateway.accept(at(110), address(MEMBER), &early, 5), Err(Refusal::Replayed));
    member.seal(at(100), PEER, &[b"next"], &mut late).unwrap();
    let (next, _) = gateway.examine(at(110), &late).unwrap().unwrap();
    gateway.bar(PEER);
    assert_eq!(gateway.accept(at(120), address(MEMBER), &next, 4), Err(Refusal::Stranger));
}
