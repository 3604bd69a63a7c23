use super::{Intervals, Registration, State};
use crate::tunnel::control::{Challenge, Hello, Message, Welcome};
use prismux_units::{Duration, Instant};

const INTERVALS: Intervals = Intervals { active: Duration::from_secs(1), idle: Duration::from_secs(25) };

fn at(milliseconds: u64) -> Instant {
    Instant::from_millis(milliseconds)
}

fn hello(registration: &mut Registration, now: Instant) -> Hello {
    match registration.poll_hello(now) {
        Some(Message::Hello(hello)) => hello,
        other => panic!("expected a hello at {now:?}, got {other:?}"),
    }
}

/// A registration that the proxy with session 9 has accepted at 100 ms.
fn registered() -> Registration {
    let mut registration = Registration::new("m1", None, INTERVALS, 1000);
    hello(&mut registration, at(0));
    registration.challenge(at(50), Challenge { session: 9, counter: 0 });
    let repeated = hello(&mut registration, at(50));
    assert!(registration.welcome(at(100), Welcome { session: 9, counter: repeated.counter }));
    registration
}

#[test]
fn the_first_hello_is_challenged_and_repeated_at_once() {
    let mut registration = Registration::new("m1", None, INTERVALS, 1000);
    let first = hello(&mut registration, at(0));
    assert_eq!((first.session, first.counter), (0, 1001));
    assert!(registration.poll_hello(at(50)).is_none());
    registration.challenge(at(50), Challenge { session: 9, counter: 5000 });
    let second = hello(&mut registration, at(50));
    assert_eq!((second.session, second.counter), (9, 5001), "greater than what the proxy has seen");
    assert!(registration.welcome(at(120), Welcome { session: 9, counter: 5001 }));
    assert_eq!(
        (registration.state(), registration.rtt()),
        (State::Registered, Some(Duration::from_millis(70)))
    );
}

#[test]
fn an_idle_member_calls_every_25_seconds() {
    let mut registration = registered();
    assert_eq!(registration.deadline(), at(1050));
    assert_eq!(hello(&mut registration, at(1050)).next_within, INTERVALS.idle);
    assert_eq!(registration.deadline(), at(26_050));
}

#[test]
fn traffic_after_a_quiet_time_calls_at_once_and_then_every_second() {
    let mut registration = registered();
    let idle = hello(&mut registration, at(1050));
    registration.welcome(at(1100), Welcome { session: 9, counter: idle.counter });
    registration.note_traffic(at(5000));
    assert_eq!(hello(&mut registration, at(5000)).next_within, INTERVALS.active);
    registration.note_traffic(at(5001));
    assert!(registration.poll_hello(at(5001)).is_none(), "traffic itself does not call");
    assert_eq!(registration.deadline(), at(6000));
}

#[test]
fn a_silent_proxy_is_called_every_second_until_it_answers() {
    let mut registration = registered();
    for second in [1050, 26_050, 27_050, 28_050, 29_050] {
        hello(&mut registration, at(second));
    }
    assert_eq!(registration.state(), State::Calling);
    registration.challenge(at(29_100), Challenge { session: 10, counter: 0 });
    let again = hello(&mut registration, at(29_100));
    assert!(registration.welcome(at(29_150), Welcome { session: 10, counter: again.counter }), "news");
}

#[test]
fn a_challenge_played_back_does_not_make_it_call_faster() {
    let mut registration = Registration::new("m1", None, INTERVALS, 1000);
    hello(&mut registration, at(0));
    let challenge = Challenge { session: 9, counter: 0 };
    registration.challenge(at(10), challenge);
    hello(&mut registration, at(10));
    for _ in 0..5 {
        registration.challenge(at(11), challenge);
        assert!(registration.poll_hello(at(11)).is_none());
    }
}

#[test]
fn an_answer_to_an_old_hello_or_of_an_old_session_is_no_answer() {
    let mut registration = registered();
    let hello = hello(&mut registration, at(1050));
    assert!(!registration.welcome(at(1060), Welcome { session: 8, counter: hello.counter }));
    assert!(!registration.welcome(at(1060), Welcome { session: 9, counter: hello.counter - 1 }));
    assert!(
        matches!(registration.bye(), Message::Bye(bye) if bye.counter > hello.counter && bye.session == 9)
    );
}
