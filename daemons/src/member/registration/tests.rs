use super::{Answer, Intervals, Registration, RegistrationEvent, State};
use crate::tunnel::control::{Accept, Challenge, Hello, Message, Offer, Welcome};
use prismux_endpoint::Endpoint;
use prismux_units::{Duration, Instant};

const INTERVALS: Intervals = Intervals { active: Duration::from_secs(1), idle: Duration::from_secs(25) };

fn at(milliseconds: u64) -> Instant {
    Instant::from_millis(milliseconds)
}

fn new() -> Registration {
    Registration::new("m1", None, INTERVALS, 1000)
}

/// What is due or asked for at `now`: one hello.
fn hello(registration: &mut Registration, now: Instant) -> Hello {
    registration.handle_timeout(now);
    match registration.poll_transmit(now) {
        Some(Message::Hello(hello)) => hello,
        other => panic!("expected a hello at {now:?}, got {other:?}"),
    }
}

fn is_quiet(registration: &mut Registration, now: Instant) -> bool {
    registration.handle_timeout(now);
    registration.poll_transmit(now).is_none()
}

fn challenge(registration: &mut Registration, now: Instant, session: u64, counter: u64) {
    registration.handle_input(now, Answer::Challenge(Challenge { session, counter }));
}

/// Says whether the welcome is news.
fn welcome(registration: &mut Registration, now: Instant, session: u64, counter: u64) -> bool {
    registration.handle_input(now, Answer::Welcome(Welcome { session, counter }));
    registration.poll_event() == Some(RegistrationEvent::Registered)
}

fn next_call(registration: &Registration) -> Instant {
    registration.poll_timeout().expect("it calls again").at
}

/// A registration that the proxy with session 9 has accepted at 100 ms.
fn registered() -> Registration {
    let mut registration = new();
    hello(&mut registration, at(0));
    challenge(&mut registration, at(50), 9, 0);
    let repeated = hello(&mut registration, at(50));
    assert!(welcome(&mut registration, at(100), 9, repeated.counter));
    registration
}

#[test]
fn the_first_hello_is_challenged_and_repeated_at_once() {
    let mut registration = new();
    let first = hello(&mut registration, at(0));
    assert_eq!((first.session, first.counter), (0, 1001));
    assert!(is_quiet(&mut registration, at(50)));
    challenge(&mut registration, at(50), 9, 5000);
    let second = hello(&mut registration, at(50));
    assert_eq!((second.session, second.counter), (9, 5001), "greater than what the proxy has seen");
    assert!(welcome(&mut registration, at(120), 9, 5001));
    assert_eq!(
        (registration.state(), registration.rtt()),
        (State::Registered, Some(Duration::from_millis(70)))
    );
}

#[test]
fn an_idle_member_calls_every_25_seconds() {
    let mut registration = registered();
    assert_eq!(next_call(&registration), at(1050));
    assert_eq!(hello(&mut registration, at(1050)).next_within, INTERVALS.idle);
    assert_eq!(next_call(&registration), at(26_050));
}

#[test]
fn traffic_after_a_quiet_time_calls_at_once_and_then_every_second() {
    let mut registration = registered();
    let idle = hello(&mut registration, at(1050));
    welcome(&mut registration, at(1100), 9, idle.counter);
    registration.note_traffic(at(5000));
    assert_eq!(hello(&mut registration, at(5000)).next_within, INTERVALS.active);
    registration.note_traffic(at(5001));
    assert!(is_quiet(&mut registration, at(5001)), "traffic itself does not call");
    assert_eq!(next_call(&registration), at(6000));
}

#[test]
fn a_silent_proxy_is_called_every_second_until_it_answers() {
    let mut registration = registered();
    for millis in [1050, 26_050, 27_050, 28_050, 29_050] {
        hello(&mut registration, at(millis));
    }
    assert_eq!(registration.state(), State::Calling);
    challenge(&mut registration, at(29_100), 10, 0);
    let again = hello(&mut registration, at(29_100));
    let events: Vec<_> = std::iter::from_fn(|| registration.poll_event()).collect();
    assert_eq!(events, [RegistrationEvent::Unanswered { since: at(1050) }]);
    assert!(welcome(&mut registration, at(29_150), 10, again.counter), "news");
}

#[test]
fn a_proxy_whose_packets_come_is_not_silent_though_it_answers_no_hello() {
    let mut registration = registered();
    for second in 2..20 {
        registration.note_delivery(at(1000 * second - 500));
        hello(&mut registration, at(1000 * second));
    }
    assert_eq!(registration.state(), State::Registered);
    for second in 20..23 {
        hello(&mut registration, at(1000 * second));
    }
    assert_eq!(registration.state(), State::Calling, "neither answers nor packets come");
}

#[test]
fn silence_is_told_after_4_calls_and_again_when_they_have_doubled() {
    let mut registration = new();
    let mut told = Vec::new();
    for second in 0..40 {
        hello(&mut registration, Instant::from_secs(second));
        told.extend(std::iter::from_fn(|| registration.poll_event()).map(|event| (second + 1, event)));
    }
    let unanswered = RegistrationEvent::Unanswered { since: at(0) };
    assert_eq!(told, [(4, unanswered), (8, unanswered), (16, unanswered), (32, unanswered)]);
}

#[test]
fn a_challenge_played_back_does_not_make_it_call_faster() {
    let mut registration = new();
    hello(&mut registration, at(0));
    challenge(&mut registration, at(10), 9, 0);
    hello(&mut registration, at(10));
    for _ in 0..5 {
        challenge(&mut registration, at(11), 9, 0);
        assert!(is_quiet(&mut registration, at(11)));
    }
}

#[test]
fn another_member_of_the_same_name_is_noticed() {
    let mut registration = registered();
    let own = hello(&mut registration, at(1050)).counter;
    challenge(&mut registration, at(1100), 9, own);
    assert_eq!(registration.poll_event(), None, "a hello of its own, played back or repeated");
    challenge(&mut registration, at(1200), 9, own + 7000);
    assert_eq!(registration.poll_event(), Some(RegistrationEvent::NameContested));
}

#[test]
fn an_answer_to_an_old_hello_or_of_an_old_session_is_no_answer() {
    let mut registration = registered();
    let hello = hello(&mut registration, at(1050));
    let rtt = registration.rtt();
    welcome(&mut registration, at(1060), 8, hello.counter);
    welcome(&mut registration, at(1060), 9, hello.counter - 1);
    assert_eq!(registration.rtt(), rtt);
    registration.bye();
    let bye = registration.poll_transmit(at(1060));
    assert!(matches!(bye, Some(Message::Bye(bye)) if bye.counter > hello.counter && bye.session == 9));
    assert_eq!(registration.poll_timeout(), None, "whoever has said goodbye does not call");
}

/// A registration that offers receipts, and the offer after its first welcome.
fn offering() -> (Registration, Offer) {
    let mut registration = new().with_receipts(true);
    hello(&mut registration, at(0));
    challenge(&mut registration, at(50), 9, 0);
    let repeated = hello(&mut registration, at(50));
    welcome(&mut registration, at(100), 9, repeated.counter);
    let offer = offer(&mut registration, at(100)).expect("an offer");
    (registration, offer)
}

fn offer(registration: &mut Registration, now: Instant) -> Option<Offer> {
    match registration.poll_transmit(now) {
        Some(Message::Offer(offer)) => Some(offer),
        None => None,
        other => panic!("{other:?}"),
    }
}

#[test]
fn receipts_are_offered_once_registered_and_no_more_once_accepted() {
    let (mut registration, offer_made) = offering();
    let epoch = offer_made.epoch;
    assert_eq!(registration.poll_event(), Some(RegistrationEvent::ReceiptsOffered { epoch }));
    assert_eq!((offer_made.session, offer_made.counter), (9, u64::from(epoch)));
    let accept = Accept { session: 9, counter: offer_made.counter, epoch: 1, repairs: true };
    registration.handle_input(at(150), Answer::Accept(accept));
    let next = hello(&mut registration, at(1050));
    assert!(next.counter > offer_made.counter);
    welcome(&mut registration, at(1100), 9, next.counter);
    assert_eq!(offer(&mut registration, at(1100)), None);
}

#[test]
fn a_proxy_that_knows_no_receipts_gets_three_offers() {
    let (mut registration, first) = offering();
    let mut offers = 1;
    for second in 1..6 {
        let now = at(50 + 25_000 * second);
        let next = hello(&mut registration, now);
        welcome(&mut registration, now, 9, next.counter);
        if let Some(again) = offer(&mut registration, now) {
            assert_eq!(again.epoch, first.epoch, "the same agreement");
            offers += 1;
        }
    }
    assert_eq!(offers, 3);
}

#[test]
fn a_proxy_that_has_been_restarted_is_offered_receipts_anew() {
    let (mut registration, first) = offering();
    let next = hello(&mut registration, at(1050));
    challenge(&mut registration, at(1060), 10, 0);
    let repeated = hello(&mut registration, at(1060));
    assert!(repeated.counter > next.counter);
    welcome(&mut registration, at(1070), 10, repeated.counter);
    let again = offer(&mut registration, at(1070)).expect("another offer");
    assert!(again.session == 10 && again.epoch != first.epoch);
}

#[test]
fn a_member_that_rests_says_goodbye_and_nothing_more_until_it_is_over() {
    let mut registration = registered();
    registration.rest();
    assert!(matches!(registration.poll_transmit(at(200)), Some(Message::Bye(bye)) if bye.session == 9));
    registration.note_traffic(at(300));
    registration.call_now(at(400));
    challenge(&mut registration, at(500), 9, 9000);
    assert!(!welcome(&mut registration, at(600), 9, 9001), "an answer that was under way");
    assert!(is_quiet(&mut registration, at(1_000_000)) && registration.poll_timeout().is_none());
    registration.bye();
    assert!(
        matches!(registration.poll_transmit(at(1_000_000)), Some(Message::Bye(_))),
        "once more, if need be"
    );
    registration.resume(at(2_000_000));
    let again = hello(&mut registration, at(2_000_000));
    assert_eq!(again.session, 9);
    assert!(welcome(&mut registration, at(2_000_040), 9, again.counter));
    let mut unknown = new();
    unknown.rest();
    assert!(is_quiet(&mut unknown, at(5000)), "there is nobody to take leave of");
}
