//! Packet buffers from a pool: reference-counted, cheap to clone, no allocation in steady state.
//!
//! A clone shares the bytes; writing to shared bytes copies them first. When the last handle is dropped the
//! storage returns to its pool. There are two sizes, because pure ACKs (which the reverse path controller
//! may hold for a round trip) are far smaller than data packets.
use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

/// Storage for packets up to this size comes from the small class: any pure ACK, IPv6 and options included.
const SMALL_BYTES: usize = 160;

/// Bytes to spare behind a packet, for options that a rewriting may add.
const TAILROOM_BYTES: usize = 64;

type Storage = Rc<Box<[u8]>>;

struct Shelves {
    largest_packet_bytes: usize,
    small: RefCell<Vec<Storage>>,
    large: RefCell<Vec<Storage>>,
}

impl Shelves {
    fn put_back(&self, storage: Storage) {
        let shelf = if storage.len() == SMALL_BYTES + TAILROOM_BYTES { &self.small } else { &self.large };
        shelf.borrow_mut().push(storage);
    }
}

/// Where packet buffers come from and return to. One per thread.
#[derive(Clone)]
pub struct PacketPool(Rc<Shelves>);

impl PacketPool {
    /// A pool for packets of up to `largest_packet_bytes`.
    pub fn new(largest_packet_bytes: usize) -> Self {
        let largest_packet_bytes = largest_packet_bytes.max(SMALL_BYTES + 1);
        Self(Rc::new(Shelves { largest_packet_bytes, small: RefCell::default(), large: RefCell::default() }))
    }

    /// The longest packet this pool can hold, in bytes.
    pub fn largest_packet_bytes(&self) -> usize {
        self.0.largest_packet_bytes
    }

    /// A copy of `bytes`; `None` when they are longer than [`PacketPool::largest_packet_bytes`].
    pub fn copy_of(&self, bytes: &[u8]) -> Option<PacketBuf> {
        if bytes.len() > self.0.largest_packet_bytes {
            return None;
        }
        let mut packet = self.take(bytes.len());
        packet.buffer_mut()[..bytes.len()].copy_from_slice(bytes);
        Some(packet)
    }

    /// A packet of `length` bytes that are to be written; `None` when they are more than
    /// [`PacketPool::largest_packet_bytes`].
    pub fn take_of(&self, length: usize) -> Option<PacketBuf> {
        (length <= self.0.largest_packet_bytes).then(|| self.take(length))
    }

    /// The packet that `read` puts into the buffer it is given; `read` returns its length.
    ///
    /// # Errors
    /// What `read` returns.
    pub fn read_with(
        &self,
        read: impl FnOnce(&mut [u8]) -> std::io::Result<usize>,
    ) -> std::io::Result<PacketBuf> {
        let mut packet = self.take(self.0.largest_packet_bytes);
        let length = read(packet.buffer_mut())?;
        if length <= SMALL_BYTES {
            let mut small = self.take(length);
            small.buffer_mut()[..length].copy_from_slice(&packet[..length]);
            return Ok(small);
        }
        packet.set_length(length);
        Ok(packet)
    }

    /// Buffers that lie unused in the pool (small, large).
    pub fn idle(&self) -> (usize, usize) {
        (self.0.small.borrow().len(), self.0.large.borrow().len())
    }

    fn take(&self, length: usize) -> PacketBuf {
        let (shelf, size_bytes) = if length <= SMALL_BYTES {
            (&self.0.small, SMALL_BYTES + TAILROOM_BYTES)
        } else {
            (&self.0.large, self.0.largest_packet_bytes + TAILROOM_BYTES)
        };
        let storage = shelf.borrow_mut().pop().unwrap_or_else(|| Rc::new(vec![0; size_bytes].into()));
        PacketBuf { storage: Some(storage), length, pool: self.clone() }
    }
}

impl fmt::Debug for PacketPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (small, large) = self.idle();
        write!(f, "PacketPool {{ idle small: {small}, idle large: {large} }}")
    }
}

/// One packet. Cloning shares the bytes.
pub struct PacketBuf {
    /// `None` only while being dropped.
    storage: Option<Storage>,
    length: usize,
    pool: PacketPool,
}

impl PacketBuf {
    /// The whole buffer, packet and tailroom, for writing. Shared bytes are copied first, so that other
    /// handles keep what they saw.
    pub fn buffer_mut(&mut self) -> &mut [u8] {
        let shared = self.storage.as_mut().is_none_or(|storage| Rc::get_mut(storage).is_none());
        if shared {
            let mut own = self.pool.take(self.length);
            own.buffer_mut()[..self.length].copy_from_slice(self);
            *self = own;
        }
        match self.storage.as_mut().and_then(Rc::get_mut) {
            Some(bytes) => bytes,
            None => unreachable!("a buffer fresh from the pool has one handle"),
        }
    }

    /// Changes the packet's length after the bytes in [`PacketBuf::buffer_mut`] have been changed; at most the
    /// buffer's size.
    pub fn set_length(&mut self, length: usize) {
        self.length = length.min(self.storage.as_ref().map_or(0, |storage| storage.len()));
    }
}

impl Deref for PacketBuf {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.storage.as_ref().map_or(&[], |storage| &storage[..self.length])
    }
}

impl Clone for PacketBuf {
    fn clone(&self) -> Self {
        Self { storage: self.storage.clone(), length: self.length, pool: self.pool.clone() }
    }
}

impl Drop for PacketBuf {
    fn drop(&mut self) {
        if let Some(storage) = self.storage.take()
            && Rc::strong_count(&storage) == 1
        {
            self.pool.0.put_back(storage);
        }
    }
}

impl fmt::Debug for PacketBuf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PacketBuf({} B)", self.length)
    }
}

#[cfg(test)]
mod tests;
