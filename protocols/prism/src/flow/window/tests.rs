use super::WindowEdge;
use prismux_wire::SeqNumber;

#[test]
fn the_window_of_a_syn_ack_is_not_scaled() {
    let mut window = WindowEdge::default();
    window.on_sender_syn(true);
    window.on_receiver_syn(Some(4));
    assert!(window.on_ack(SeqNumber(1), 65_535, true));
    assert_eq!(window.edge(), Some(SeqNumber(65_536)));
    // Scaled, the SYN-ACK's field would hide this edge, and let the sender run far beyond it.
    assert!(window.on_ack(SeqNumber(1), 31_250, false));
    assert_eq!(window.edge(), Some(SeqNumber(500_001)));
    assert_eq!(window.field(SeqNumber(1001), None), 31_187);
}
