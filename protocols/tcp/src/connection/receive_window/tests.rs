extern crate std;

use super::{ReceiveWindow, shift_for};
use proptest::prelude::*;

#[test]
fn the_shift_is_the_smallest_that_holds_window_and_reserve() {
    assert_eq!(shift_for(20_000), 0);
    assert_eq!(shift_for(65_535), 0);
    assert_eq!(shift_for(65_536), 1);
    assert_eq!(shift_for(6 << 20), 8);
    assert_eq!(shift_for(u64::MAX / 4), 14);
}

#[test]
fn a_step_is_a_segment_or_half_a_small_buffer() {
    let mut window = ReceiveWindow::new(1000);
    window.negotiate(0, 1460);
    assert_eq!(window.advertise(0), 1000);
    assert_eq!(window.advertise(600), 400);
    window.set_read(400);
    assert_eq!(window.advertise(600), 400, "400 bytes are less than half the buffer");
    window.set_read(500);
    assert!(window.update_is_due(600));
    assert_eq!(window.advertise(600), 900);
}

proptest! {
    #[test]
    fn the_right_edge_never_moves_left_nor_beyond_the_buffer(
        capacity in 1000..10_000_000u64,
        mss in 500..1461u32,
        steps in prop::collection::vec((any::<u16>(), any::<u16>()), 1..200),
    ) {
        let shift = shift_for(capacity);
        let mut window = ReceiveWindow::new(capacity);
        window.advertise_unscaled(0);
        window.negotiate(shift, mss);
        let (mut next, mut read, mut edge) = (0, 0, capacity.min(0xffff));
        for (arrive, take) in steps {
            // A peer that fills segments and respects the edge; a reader that takes what there is.
            let segments = u64::from(arrive) % 40;
            next += (segments * u64::from(mss)).min(window.limit() - next);
            read += u64::from(take).min(next - read);
            window.set_read(read);
            let field = window.advertise(next);
            let new_edge = next + (u64::from(field) << shift);
            prop_assert!(new_edge >= edge, "{edge} to {new_edge}");
            prop_assert_eq!(new_edge, window.advertised());
            edge = new_edge;
            prop_assert!(window.limit() <= read + window.buffer_bytes());
            // The peer is always told of all but a step of what the buffer has free.
            prop_assert!(edge + u64::from(mss).min(capacity / 2) + (1 << shift) > read + capacity);
        }
    }
}
