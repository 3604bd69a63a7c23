//! TUN devices that move many segments at once: one read gives what TCP hands down in one piece (up to 64 kB), one
//! write takes many segments or datagrams of a flow.
//!
//! Whoever uses the device sees packets no longer than its MTU all the same: what the kernel leaves uncut is cut here,
//! and what is written is joined here, in order within each flow.
//!
//! * `header`: what stands in front of each packet. `cut`: TCP and UDP segmentation, checksums that the kernel left
//!   open. `join`: segments of a flow into one packet.
mod cut;
mod header;
mod join;

use crate::packet::{PacketBuf, PacketPool};
use crate::tun::{Tun, TunError};
use cut::Cutter;
use header::VirtioHeader;
use join::Joiner;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// A TUN device with offloads, non-blocking.
pub struct OffloadTun {
    tun: Tun,
    cutter: RefCell<Cutter>,
    joiner: RefCell<Joiner>,
    refused: Cell<u64>,
}

impl OffloadTun {
    /// Makes a device, as [`Tun::create`] does. On a kernel without offloads it works one packet at a time.
    ///
    /// # Errors
    /// [`TunError`], which says what to do.
    pub fn create(name: &str) -> Result<Self, TunError> {
        let tun = Tun::create_with_offloads(name)?;
        let joiner = RefCell::new(Joiner::new(tun.cuts_datagrams()));
        Ok(Self { tun, cutter: RefCell::default(), joiner, refused: Cell::new(0) })
    }

    /// The device's name as the kernel has it.
    pub fn name(&self) -> &str {
        self.tun.name()
    }

    /// The next packet; `None` when there is none, or none that `pool` has room for.
    ///
    /// # Errors
    /// The kernel's, as when the device was removed.
    pub fn read(&self, pool: &PacketPool) -> io::Result<Option<PacketBuf>> {
        let mut cutter = self.cutter.borrow_mut();
        if !cutter.has_segments() {
            let length = match self.tun.read(cutter.room()) {
                Ok(length) => length,
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => return Ok(None),
                    _ => return Err(error),
                },
            };
            cutter.begin(length);
        }
        let packet = cutter.next(pool);
        if packet.is_none() {
            self.refused.set(self.refused.get() + 1);
        }
        Ok(packet)
    }

    /// Whether [`OffloadTun::read`] has a packet that the kernel does not report any more: it has been read already.
    pub fn has_segments(&self) -> bool {
        self.cutter.borrow().has_segments()
    }

    /// Writes one packet, at the next [`OffloadTun::flush`] at the latest: segments of a flow may be joined until then.
    pub fn write(&self, packet: &[u8]) {
        self.joiner.borrow_mut().offer(packet, |header, packet, count| self.put(header, packet, count));
    }

    /// Writes what waits for more of its flow.
    pub fn flush(&self) {
        self.joiner.borrow_mut().flush(|header, packet, count| self.put(header, packet, count));
    }

    /// Packets that could not be read or written since this was asked for last.
    pub fn take_refused(&self) -> u64 {
        self.refused.take()
    }

    fn put(&self, header: VirtioHeader, packet: &[u8], count: u64) {
        if let Err(error) = self.tun.write_parts([&header.emit(), packet]) {
            tracing::debug!(%error, bytes = packet.len(), "the TUN device refused a packet");
            self.refused.set(self.refused.get() + count);
        }
    }
}

impl fmt::Debug for OffloadTun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OffloadTun").field("tun", &self.tun).finish_non_exhaustive()
    }
}

impl AsFd for OffloadTun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

#[cfg(test)]
mod tests;
