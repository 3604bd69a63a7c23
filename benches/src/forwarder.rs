//! The least that moves packets between two TUN devices: read here, write there. The baseline for the datapath's cost,
//! packet by packet, or with offloads as they come: up to 64 kB at once.
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{BATCH_PACKETS, EventLoop, StopHandle, Wake};
use prismux_linux::tun::Tun;
use std::io;

/// The longest packet, with a `virtio_net_hdr` in front of it.
const ROOM_BYTES: usize = 10 + 65_535;

/// Packets that were moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Moved {
    /// From the first device to the second.
    pub forward_packets: u64,
    /// The other way.
    pub backward_packets: u64,
}

/// Moves packets between two devices, which may be in different namespaces, until stopped. Both have offloads, or
/// neither.
pub fn run(first: &Tun, second: &Tun, stop: StopHandle) -> io::Result<Moved> {
    let mut event_loop = EventLoop::new(Clock::start(), stop)?;
    event_loop.watch(first, 0)?;
    event_loop.watch(second, 1)?;
    let mut moved = Moved::default();
    let mut ready = Vec::new();
    let mut buffer = vec![0; ROOM_BYTES];
    while event_loop.wait(None, &mut ready)? != Wake::Stop {
        for &token in &ready {
            match token {
                0 => moved.forward_packets += copy_batch(first, second, &mut buffer)?,
                _ => moved.backward_packets += copy_batch(second, first, &mut buffer)?,
            }
        }
    }
    Ok(moved)
}

fn copy_batch(from: &Tun, to: &Tun, buffer: &mut [u8]) -> io::Result<u64> {
    for count in 0..BATCH_PACKETS {
        match from.read(buffer) {
            // What the other device refuses is lost, as on any wire.
            Ok(length) => drop(to.write(&buffer[..length])),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(count as u64),
            Err(error) => return Err(error),
        }
    }
    Ok(BATCH_PACKETS as u64)
}
