use super::{MAX_MEMBERS, Members, Registration};
use crate::tunnel::Peer;
use crate::tunnel::control::{Bye, Challenge, Hello, Tier, Welcome};
use prismux_prism::LinkId;
use prismux_units::{Duration, Instant};

const SESSION: u64 = 99;

fn members() -> Members {
    Members::new(SESSION, Duration::from_secs(3))
}

fn hello(name: &str, counter: u64, next_within_s: u64) -> Hello {
    Hello {
        session: SESSION,
        counter,
        next_within: Duration::from_secs(next_within_s),
        rate: None,
        tier: Tier::Primary,
        limit: None,
        name: name.to_owned(),
    }
}

fn at(seconds: u64) -> Instant {
    Instant::from_secs(seconds)
}

fn peer(host: u8) -> Peer {
    Peer::gre([192, 0, 2, host])
}

#[test]
fn a_member_joins_with_the_session_it_was_challenged_with() {
    let mut members = members();
    let first = Hello { session: 0, ..hello("m1", 5, 1) };
    let challenge = Challenge { session: SESSION, counter: 0 };
    assert_eq!(members.hello(at(0), peer(1), &first), Registration::Repeat(challenge));
    let welcome = Welcome { session: SESSION, counter: 6 };
    assert_eq!(members.hello(at(0), peer(1), &hello("m1", 6, 1)), Registration::Joined(LinkId(0), welcome));
    let joined = members.hello(at(0), peer(2), &hello("m2", 1, 1));
    assert!(matches!(joined, Registration::Joined(LinkId(1), _)));
}

#[test]
fn a_hello_or_bye_played_back_changes_nothing() {
    let mut members = members();
    members.hello(at(0), peer(1), &hello("m1", 6, 1));
    let challenge = Challenge { session: SESSION, counter: 6 };
    assert_eq!(members.hello(at(1), peer(66), &hello("m1", 6, 1)), Registration::Repeat(challenge));
    assert_eq!(members.get(LinkId(0)).unwrap().peer, peer(1));
    let bye = |counter| Bye { session: SESSION, counter, name: "m1".to_owned() };
    assert_eq!(members.bye(at(1), &bye(6)), Registration::Ignored);
    assert_eq!(members.bye(at(1), &Bye { session: 1, ..bye(7) }), Registration::Ignored);
    assert_eq!(members.bye(at(1), &bye(7)), Registration::Left(LinkId(0)));
    let challenge = Challenge { session: SESSION, counter: 7 };
    assert_eq!(members.hello(at(1), peer(1), &hello("m1", 7, 1)), Registration::Repeat(challenge));
}

/// Member m1 calls from another host than before: the counter with which it is asked to repeat that.
fn asked(members: &mut Members, second: u64, host: u8, counter: u64) -> u64 {
    match members.hello(at(second), peer(host), &hello("m1", counter, 1)) {
        Registration::Repeat(challenge) if challenge.counter > counter + 60 => challenge.counter,
        other => panic!("expected a question, got {other:?}"),
    }
}

#[test]
fn a_hello_held_back_and_played_from_elsewhere_diverts_nothing() {
    let mut members = members();
    members.hello(at(0), peer(1), &hello("m1", 1, 1));
    // The member's next minute of hellos, none of which arrives but by the attacker's hand.
    for counter in 2..60 {
        asked(&mut members, 1, 66, counter);
    }
    assert_eq!(members.sent(at(1), LinkId(0), 100), Some(peer(1)));
    assert_eq!(members.heard(at(1), peer(66), 50), None);
    assert!(matches!(members.hello(at(1), peer(1), &hello("m1", 60, 1)), Registration::Refreshed(..)));
    // Nor does a member that has left come back somewhere else unasked.
    members.bye(at(2), &Bye { session: SESSION, counter: 61, name: "m1".to_owned() });
    asked(&mut members, 3, 66, 62);
    assert!(!members.get(LinkId(0)).unwrap().up);
}

#[test]
fn a_member_that_moves_keeps_its_link() {
    let mut members = members();
    members.hello(at(0), peer(1), &hello("m1", 1, 1));
    let asked = asked(&mut members, 1, 7, 2);
    assert_eq!(members.sent(at(1), LinkId(0), 100), Some(peer(1)), "until it has answered there");
    let welcome = Welcome { session: SESSION, counter: asked + 1 };
    let moved = Registration::Moved { link: LinkId(0), welcome, from: peer(1), contested: false };
    assert_eq!(members.hello(at(1), peer(7), &hello("m1", asked + 1, 1)), moved);
    assert_eq!(members.sent(at(1), LinkId(0), 100), Some(peer(7)));
    assert_eq!(members.heard(at(1), peer(1), 50), None, "the old address is a stranger's");
    assert_eq!(members.heard(at(1), peer(7), 50), Some(LinkId(0)));
}

#[test]
fn data_without_an_answer_exposes_a_dead_member() {
    let mut members = members();
    members.hello(at(0), peer(1), &hello("m1", 1, 25));
    members.sent(at(10), LinkId(0), 1400);
    members.sent(at(12), LinkId(0), 1400);
    assert_eq!(members.deadline(), Some(at(13)), "counted from the first unanswered packet");
    assert!(members.expire(at(12)).is_none());
    assert_eq!(members.expire(at(13)).unwrap().name, "m1");
    assert!(members.expire(at(13)).is_none());
    assert_eq!(members.deadline(), None);
    assert!(matches!(members.hello(at(20), peer(1), &hello("m1", 2, 1)), Registration::Joined(LinkId(0), _)));
}

#[test]
fn any_packet_from_a_member_shows_that_it_lives() {
    let mut members = members();
    members.hello(at(0), peer(1), &hello("m1", 1, 25));
    members.sent(at(10), LinkId(0), 1400);
    members.heard(at(12), peer(1), 52);
    assert!(members.expire(at(14)).is_none());
    assert_eq!(members.get(LinkId(0)).unwrap().traffic.return_bytes, 52);
}

#[test]
fn a_member_whose_hellos_are_lost_stays_while_it_carries_packets() {
    let mut members = members();
    members.hello(at(0), peer(1), &hello("m1", 1, 1));
    for second in 1..20 {
        members.heard(at(second), peer(1), 52);
        assert!(members.expire(at(second)).is_none(), "at {second} s");
    }
    assert!(members.expire(at(21)).is_none());
    assert!(members.expire(at(22)).is_some(), "neither hellos nor packets come");
}

#[test]
fn an_idle_member_may_miss_one_hello_but_not_two() {
    let mut members = members();
    members.hello(at(0), peer(1), &hello("m1", 1, 25));
    assert!(members.expire(at(50)).is_none());
    assert!(members.expire(at(53)).is_some());
}

#[test]
fn a_listed_member_never_expires() {
    let mut members = members();
    let link = members.add_listed(at(0), "router", peer(1), None).unwrap();
    members.sent(at(0), link, 1400);
    assert!(members.expire(at(1_000_000)).is_none());
}

#[test]
fn room_is_bounded_and_used_again() {
    let mut members = members();
    for number in 0..MAX_MEMBERS {
        members.hello(at(0), peer(1), &hello(&format!("m{number}"), 1, 1));
    }
    assert_eq!(members.hello(at(0), peer(1), &hello("late", 1, 1)), Registration::Full);
    members.bye(at(0), &Bye { session: SESSION, counter: 2, name: "m3".to_owned() });
    assert!(matches!(
        members.hello(at(0), peer(1), &hello("late", 1, 1)),
        Registration::Joined(LinkId(3), _)
    ));
}

#[test]
fn a_member_that_left_brings_back_the_last_answers_and_no_more() {
    let mut members = members();
    members.hello(at(0), peer(1), &hello("m1", 1, 1));
    members.bye(at(10), &Bye { session: SESSION, counter: 2, name: "m1".to_owned() });
    assert_eq!(members.heard(at(11), peer(1), 50), Some(LinkId(0)));
    assert_eq!(members.heard(at(12), peer(1), 50), None, "by now it is a stranger");
}

#[test]
fn two_members_of_one_name_are_seen_to_move_to_and_fro() {
    let mut members = members();
    members.hello(at(0), peer(1), &hello("m1", 1, 1));
    let mut counter = 2;
    let mut contested = |second, host| {
        counter = asked(&mut members, second, host, counter) + 1;
        let moved = members.hello(at(second), peer(host), &hello("m1", counter, 1));
        counter += 1;
        match moved {
            Registration::Moved { contested, .. } => contested,
            other => panic!("expected a move, got {other:?}"),
        }
    };
    assert!(!contested(1, 7), "an uplink that changes");
    assert!(contested(2, 1));
    assert!(contested(3, 7));
    assert!(!contested(100, 1), "an uplink that is back after a while");
}
