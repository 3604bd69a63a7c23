//! Packets pass from socket to socket without touching the heap once everything has warmed up.
use prismux_linux::batch::{BatchReceiver, BatchSender};
use prismux_linux::packet::PacketPool;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::UdpSocket;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged; the counter is a plain thread-local cell without
// destructor, which does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above; `pointer` came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn forwarding_does_not_allocate_in_steady_state() {
    let (sender, receiver) =
        (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let to = receiver.local_addr().unwrap();
    let pool = PacketPool::new(1500);
    let (mut out, mut incoming) = (BatchSender::new(16), BatchReceiver::new(16, 1600));
    let mut round = |length: usize| {
        // A clone stays behind for a while, as the core keeps them for local repair.
        let packet = pool.copy_of(&[0x45; 1400][..length]).unwrap();
        let kept = packet.clone();
        for _ in 0..15 {
            out.push(to, 2, &[0, 0, 8, 0], packet.clone());
        }
        let mut rewritten = packet;
        rewritten.buffer_mut()[0] ^= 1;
        out.push(to, 0, &[0, 0, 8, 0], rewritten);
        out.flush(&sender, |error, _, _| panic!("{error}"));
        assert_eq!(incoming.receive(&receiver).unwrap(), 16);
        let copies = incoming.datagrams().filter_map(|datagram| pool.copy_of(&datagram.bytes[4..]));
        copies.map(|copy| copy.len()).sum::<usize>() + kept.len()
    };
    round(1400);
    round(52);
    let before = ALLOCATIONS.with(Cell::get);
    for length in [52, 1400].repeat(100) {
        assert_eq!(round(length), 17 * length);
    }
    assert_eq!(ALLOCATIONS.with(Cell::get) - before, 1, "only the list of lengths above");
}
