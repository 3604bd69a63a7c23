use super::*;

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn due(ms: u64) -> Option<Deadline> {
    Some(Deadline { at: at(ms), why: "test" })
}

#[test]
fn a_time_put_off_is_found_when_the_earlier_one_comes_up() {
    let (mut timers, mut alarm) = (Timers::new(), Alarm::new());
    timers.set(at(0), &mut alarm, 'a', due(10));
    timers.set(at(0), &mut alarm, 'a', due(30));
    assert_eq!((timers.next(), timers.pop(at(9))), (Some(at(10)), None));
    assert_eq!(timers.pop(at(10)), Some((at(10), 'a')));
    assert!(alarm.rings(at(10)));
    timers.set(at(10), &mut alarm, 'a', due(30));
    assert_eq!(timers.pop(at(31)), Some((at(30), 'a')));
    assert!(alarm.rings(at(30)));
    assert_eq!(timers.next(), None);
}

#[test]
fn a_time_moved_forward_rings_once() {
    let (mut timers, mut alarm) = (Timers::new(), Alarm::new());
    timers.set(at(0), &mut alarm, 'a', due(30));
    timers.set(at(0), &mut alarm, 'a', due(10));
    timers.set(at(0), &mut alarm, 'a', None);
    assert_eq!(timers.pop(at(40)), Some((at(10), 'a')));
    assert!(alarm.rings(at(10)));
    assert_eq!(timers.pop(at(40)), Some((at(30), 'a')));
    assert!(!alarm.rings(at(30)), "the old entry is nobody's");
}

#[test]
fn entries_come_in_the_order_of_their_times() {
    let mut timers = Timers::new();
    for (key, ms) in [('c', 3), ('a', 1), ('b', 2)] {
        timers.set(at(0), &mut Alarm::new(), key, due(ms));
    }
    let order: Vec<char> = std::iter::from_fn(|| timers.pop(at(9))).map(|(_, key)| key).collect();
    assert_eq!(order, ['a', 'b', 'c']);
}
