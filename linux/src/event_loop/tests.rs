use super::{EventLoop, StopHandle, Wake};
use crate::clock::Clock;
use prismux_units::Duration;
use std::io::Write;

fn event_loop() -> EventLoop {
    EventLoop::new(Clock::start(), StopHandle::new().unwrap()).unwrap()
}

#[test]
fn wakes_no_earlier_than_the_deadline() {
    let mut event_loop = event_loop();
    let mut ready = Vec::new();
    let deadline = event_loop.clock().now() + Duration::from_micros(1500);
    while event_loop.clock().now() < deadline {
        assert_eq!(event_loop.wait(Some(deadline), &mut ready).unwrap(), Wake::Work);
    }
    assert!(ready.is_empty());
}

#[test]
fn a_passed_deadline_does_not_sleep() {
    let mut event_loop = event_loop();
    let deadline = event_loop.clock().now();
    assert_eq!(event_loop.wait(Some(deadline), &mut Vec::new()).unwrap(), Wake::Work);
}

#[test]
fn an_earlier_deadline_replaces_a_later_one() {
    let mut event_loop = event_loop();
    let (reader, mut writer) = std::io::pipe().unwrap();
    event_loop.watch(&reader, 1).unwrap();
    writer.write_all(b"x").unwrap();
    let mut ready = Vec::new();
    let now = event_loop.clock().now();
    event_loop.wait(Some(now + Duration::from_secs(3600)), &mut ready).unwrap();
    event_loop.forget(&reader).unwrap();
    event_loop.wait(Some(event_loop.clock().now() + Duration::from_millis(1)), &mut ready).unwrap();
    assert!(ready.is_empty(), "returned because of the timer");
}

#[test]
fn reports_what_is_readable_and_the_stop_request() {
    let mut event_loop = event_loop();
    let (reader, mut writer) = std::io::pipe().unwrap();
    event_loop.watch(&reader, 42).unwrap();
    writer.write_all(b"x").unwrap();
    let mut ready = Vec::new();
    assert_eq!(event_loop.wait(None, &mut ready).unwrap(), Wake::Work);
    assert_eq!(ready, [42]);
    event_loop.stop_handle().stop();
    assert_eq!(event_loop.wait(None, &mut ready).unwrap(), Wake::Stop);
}
