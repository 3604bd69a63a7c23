//! As many packets for each wake-up as a batch holds.
use crate::counters::DropCounters;
use crate::device;
use crate::tunnel::socket::{Frame, FrameError, TunnelReceiver};
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::BATCH_PACKETS;
use prismux_linux::offload::OffloadTun;
use prismux_linux::packet::{PacketBuf, PacketPool};
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use std::io;

/// A daemon between the kernel and tunnels.
pub(crate) trait Carrier {
    /// Its device, buffers for what is read from it, and what goes no further there.
    fn device(&mut self) -> (&OffloadTun, &PacketPool, &mut DropCounters);
    /// Its tunnels' sockets, by number.
    fn sockets(&mut self) -> &mut Vec<TunnelReceiver>;
    /// Something goes no further.
    fn count(&mut self, reason: DropReason);
    /// A packet from the kernel.
    ///
    /// # Errors
    /// Why it goes no further.
    fn packet(&mut self, now: Instant, packet: PacketBuf) -> Result<(), DropReason>;
    /// A frame from the socket of this number.
    ///
    /// # Errors
    /// Why it goes no further.
    fn frame(&mut self, now: Instant, socket: usize, frame: &Frame<'_>) -> Result<(), DropReason>;
}

/// One batch from the kernel, and what the last packet of it was cut into; returns how many packets there were.
///
/// # Errors
/// When the kernel takes the device away.
pub(crate) fn read_packets(carrier: &mut impl Carrier, clock: Clock) -> io::Result<usize> {
    let mut number = 0;
    while number < BATCH_PACKETS || carrier.device().0.has_segments() {
        let (tun, pool, drops) = carrier.device();
        let Some(packet) = device::read(tun, pool, drops)? else { break };
        number += 1;
        if let Err(reason) = carrier.packet(clock.now(), packet) {
            carrier.count(reason);
        }
    }
    Ok(number)
}

/// One batch from the socket `index`.
///
/// # Errors
/// When the kernel takes the socket away.
pub(crate) fn read_frames(carrier: &mut impl Carrier, index: usize, clock: Clock) -> io::Result<()> {
    frames(carrier, index, clock, |socket, handle| socket.receive(handle)).unwrap_or(Ok(()))
}

/// What workers have opened of what came by the socket `index`.
pub(crate) fn collect_frames(carrier: &mut impl Carrier, index: usize, clock: Clock) {
    frames(carrier, index, clock, |socket, handle| socket.collect(handle));
}

fn frames<T>(
    carrier: &mut impl Carrier,
    index: usize,
    clock: Clock,
    take: impl FnOnce(&mut TunnelReceiver, &mut dyn FnMut(Result<Frame<'_>, FrameError>)) -> T,
) -> Option<T> {
    // Taken out for the time being: its frames borrow it while the rest of the daemon handles them.
    let mut sockets = std::mem::take(carrier.sockets());
    let taken = sockets.get_mut(index).map(|socket| {
        take(socket, &mut |frame| {
            let handled = match frame {
                Ok(frame) => carrier.frame(clock.now(), index, &frame),
                Err(error) => Err(error.reason()),
            };
            if let Err(reason) = handled {
                carrier.count(reason);
            }
        })
    });
    *carrier.sockets() = sockets;
    taken
}
