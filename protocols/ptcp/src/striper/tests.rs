use super::{NOBODY, Striper};
use prismux_units::{Duration, Instant};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// 10,000 bytes to send, a window of `window`.
fn striper(window: u64) -> Striper {
    let mut striper = Striper { written: 10_000, ..Striper::new(100_000) };
    striper.acknowledge(0, window);
    striper
}

#[test]
fn bytes_are_bound_in_order_as_far_as_the_windows_let_them() {
    let mut striper = striper(2_500);
    assert_eq!(striper.bind(0, 1000, false), Some(0..1000));
    assert_eq!(striper.bind(1, 1000, false), Some(1000..2000));
    assert_eq!(striper.bind(2, 1000, false), None, "half a segment of window is not worth it");
    assert_eq!(striper.offer(2, 1000), 0);
    striper.acknowledge(1000, 3_500);
    assert_eq!(striper.bind(2, 1000, false), Some(2000..3000));
    striper.send_buffer = 2_000;
    striper.acknowledge(1000, 100_000);
    assert_eq!(striper.bind(2, 1000, false), None, "our own buffer is full");
}

#[test]
fn the_tail_of_the_stream_is_sent_however_short() {
    let mut striper = Striper { written: 1_100, window_end: 5_000, ..Striper::new(100_000) };
    striper.bind(0, 1000, false);
    assert_eq!(striper.bind(0, 1000, false), Some(1000..1100));
}

#[test]
fn untied_bytes_go_first_but_not_back_to_where_they_may_still_arrive() {
    let mut striper = striper(10_000);
    striper.bind(0, 1000, false);
    striper.bind(0, 1000, false);
    striper.bind(1, 1000, false);
    assert!(striper.untie(1000..2000, 0));
    assert_eq!(striper.bind(0, 1000, false), Some(3000..4000), "new bytes for the pipe that lost them");
    assert_eq!(striper.offer(1, 600), 600);
    assert_eq!(striper.bind(1, 600, false), Some(1000..1600), "the others get them, at their place");
    assert_eq!(striper.bind(0, 1000, true), Some(1600..2000), "or the pipe itself for what it sends again");
}

#[test]
fn bytes_of_a_pipe_that_ended_are_for_everybody() {
    let mut striper = striper(10_000);
    striper.bind(0, 1000, false);
    striper.untie(0..1000, 0);
    striper.forget_origin(0);
    assert_eq!(striper.bind(0, 1000, false), Some(0..1000));
}

#[test]
fn acknowledged_bytes_are_not_untied() {
    let mut striper = striper(10_000);
    striper.bind(0, 1000, false);
    striper.acknowledge(600, 10_000);
    assert!(striper.untie(0..1000, NOBODY));
    assert_eq!(striper.bind(1, 1000, false), Some(600..1000));
    assert!(!striper.untie(0..600, NOBODY));
}

#[test]
fn suspects_are_freed_when_due_unless_acknowledged() {
    let mut striper = striper(10_000);
    striper.bind(0, 3000, false);
    striper.suspect(0..1000, at(100));
    striper.suspect(2000..3000, at(200));
    striper.acknowledge(1000, 10_000);
    assert_eq!(striper.suspects_due(), Some(at(200)));
    assert!(!striper.reclaim(at(199)));
    assert!(striper.reclaim(at(200)));
    assert_eq!((striper.suspects_due(), striper.offer(0, 1000)), (None, 1000));
    assert_eq!(striper.bind(0, 1000, false), Some(2000..3000));
}

#[test]
fn an_arrival_takes_bytes_out_of_the_queue_for_a_time() {
    let mut striper = striper(3_000);
    striper.bind(0, 3000, false);
    striper.untie(1000..2000, 0);
    striper.note_arrival(1000..2000, at(300));
    assert_eq!(striper.offer(1, 1000), 0);
    assert!(striper.reclaim(at(300)), "the acknowledgement of the connection did not cover them");
    assert_eq!(striper.bind(1, 1000, false), Some(1000..2000));
}
