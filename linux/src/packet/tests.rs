use super::PacketPool;

#[test]
fn storage_returns_to_the_pool_when_the_last_handle_goes() {
    let pool = PacketPool::new(1500);
    let packet = pool.copy_of(&[7; 1400]).unwrap();
    let ack = pool.copy_of(&[1; 52]).unwrap();
    let kept = packet.clone();
    drop(packet);
    assert_eq!(pool.idle(), (0, 0), "a clone keeps the bytes");
    drop(kept);
    drop(ack);
    assert_eq!(pool.idle(), (1, 1));
    let _again = pool.copy_of(&[2; 1000]).unwrap();
    assert_eq!(pool.idle(), (1, 0), "reused, not allocated");
}

#[test]
fn writing_leaves_clones_untouched() {
    let pool = PacketPool::new(1500);
    let mut packet = pool.copy_of(&[7; 60]).unwrap();
    let kept = packet.clone();
    packet.buffer_mut()[0] = 9;
    packet.set_length(64);
    assert_eq!((packet[0], packet.len()), (9, 64));
    assert_eq!((kept[0], kept.len()), (7, 60));
}

#[test]
fn a_packet_beyond_the_pools_size_is_refused() {
    assert!(PacketPool::new(1500).copy_of(&[0; 1501]).is_none());
}
