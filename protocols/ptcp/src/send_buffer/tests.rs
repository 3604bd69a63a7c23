use super::{NO_PIPE, SendBuffer};
use prismux_units::{Duration, Instant};

fn at(millis: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(millis)
}

/// 10,000 bytes to send, a window of `window`.
fn send_buffer(window: u64) -> SendBuffer {
    let mut send_buffer = SendBuffer { written: 10_000, ..SendBuffer::new(100_000, false) };
    send_buffer.acknowledge(0, window);
    send_buffer
}

#[test]
fn bytes_are_bound_in_order_as_far_as_the_windows_let_them() {
    let mut send_buffer = send_buffer(2_500);
    assert_eq!(send_buffer.bind(0, 1000, false), Some(0..1000));
    assert_eq!(send_buffer.bind(1, 1000, false), Some(1000..2000));
    assert_eq!(send_buffer.bind(2, 1000, false), None, "half a segment of window is not worth it");
    assert_eq!(send_buffer.offer(2, 1000), 0);
    send_buffer.acknowledge(1000, 3_500);
    assert_eq!(send_buffer.bind(2, 1000, false), Some(2000..3000));
    send_buffer.capacity = 2_000;
    send_buffer.acknowledge(1000, 100_000);
    assert_eq!(send_buffer.bind(2, 1000, false), None, "our own buffer is full");
}

#[test]
fn the_tail_of_the_stream_is_sent_however_short() {
    let mut send_buffer = SendBuffer { written: 1_100, window_end: 5_000, ..SendBuffer::new(100_000, false) };
    send_buffer.bind(0, 1000, false);
    assert_eq!(send_buffer.bind(0, 1000, false), Some(1000..1100));
}

#[test]
fn unbound_bytes_go_first_but_not_back_to_where_they_may_still_arrive() {
    let mut send_buffer = send_buffer(10_000);
    send_buffer.bind(0, 1000, false);
    send_buffer.bind(0, 1000, false);
    send_buffer.bind(1, 1000, false);
    assert!(send_buffer.unbind(1000..2000, 0));
    assert_eq!(send_buffer.bind(0, 1000, false), Some(3000..4000), "new bytes for the pipe that lost them");
    assert_eq!(send_buffer.offer(1, 600), 600);
    assert_eq!(send_buffer.bind(1, 600, false), Some(1000..1600), "the others get them, at their place");
    assert_eq!(
        send_buffer.bind(0, 1000, true),
        Some(1600..2000),
        "or the pipe itself for what it sends again"
    );
}

#[test]
fn bytes_of_a_pipe_that_ended_are_for_any_pipe() {
    let mut send_buffer = send_buffer(10_000);
    send_buffer.bind(0, 1000, false);
    send_buffer.unbind(0..1000, 0);
    send_buffer.forget_origin(0);
    assert_eq!(send_buffer.bind(0, 1000, false), Some(0..1000));
}

#[test]
fn acknowledged_bytes_are_not_unbound() {
    let mut send_buffer = send_buffer(10_000);
    send_buffer.bind(0, 1000, false);
    send_buffer.acknowledge(600, 10_000);
    assert!(send_buffer.unbind(0..1000, NO_PIPE));
    assert_eq!(send_buffer.bind(1, 1000, false), Some(600..1000));
    assert!(!send_buffer.unbind(0..600, NO_PIPE));
}

#[test]
fn unconfirmed_bytes_are_freed_when_due_unless_acknowledged() {
    let mut send_buffer = send_buffer(10_000);
    send_buffer.bind(0, 3000, false);
    send_buffer.doubt(0..1000, at(100));
    send_buffer.doubt(2000..3000, at(200));
    send_buffer.acknowledge(1000, 10_000);
    assert_eq!(send_buffer.unconfirmed_due(), Some(at(200)));
    assert!(!send_buffer.reclaim(at(199)));
    assert!(send_buffer.reclaim(at(200)));
    assert_eq!((send_buffer.unconfirmed_due(), send_buffer.offer(0, 1000)), (None, 1000));
    assert_eq!(send_buffer.bind(0, 1000, false), Some(2000..3000));
}

#[test]
fn an_arrival_takes_bytes_out_of_the_queue_for_a_time() {
    let mut send_buffer = send_buffer(3_000);
    send_buffer.bind(0, 3000, false);
    send_buffer.unbind(1000..2000, 0);
    send_buffer.note_arrival(1000..2000, at(300));
    assert_eq!(send_buffer.offer(1, 1000), 0);
    assert!(send_buffer.reclaim(at(300)), "the acknowledgement of the connection did not cover them");
    assert_eq!(send_buffer.bind(1, 1000, false), Some(1000..2000));
}
