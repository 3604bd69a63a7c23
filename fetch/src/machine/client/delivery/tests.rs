use super::*;

#[test]
fn the_longest_gap_lies_between_two_steps_forward() {
    let mut delivery = Delivery::default();
    // Waiting for the first byte is no gap, and bytes beyond a hole are no step.
    for (at_ms, bytes) in [(500, 100), (510, 200), (700, 200), (760, 300), (800, 400)] {
        delivery.reached(Instant::from_millis(at_ms), bytes);
    }
    assert_eq!(delivery.in_order_bytes, 400);
    assert_eq!(delivery.last_at, Some(Instant::from_millis(800)));
    assert_eq!(delivery.longest_gap, Duration::from_millis(250));
    assert_eq!(delivery.longest_gap_at, Some(Instant::from_millis(510)));
}
