//! Where packets are while they are under way.
//!
//! With thousands of flows a packet has left the near caches when it is looked at again, so what it takes at rest
//! counts: an ordinary segment takes one cache line. What few packets have (other options than timestamps, contents
//! of datagrams) is kept beside.
use super::content::{Content, ContentHandle, Contents};
use super::segment::PlainSegment;
use super::{Body, Datagram, IPV4_HEADER_BYTES, Packet};
use crate::core::site::Site;
use prismux_tcp::{SegmentIn, SegmentOut};
use prismux_units::Instant;
use prismux_wire::{TcpFlags, TcpHeader, TcpOptions};

/// A packet in a [`PacketPool`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PacketHandle(u32);

/// A packet at rest.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Stored(Packet<StoredBody>);

const _: () = assert!(size_of::<Stored>() == 64, "a packet fills one cache line");

/// The body of a packet at rest.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StoredBody {
    Plain(PlainSegment),
    /// The index of a segment among those kept beside.
    Beside(u32),
    Datagram(Datagram),
}

/// A segment kept beside: header, stream offset, time of sending.
type Beside = (TcpHeader, u64, Instant);

/// Storage for packets under way; freed slots are reused last in, first out, while they are still in the cache.
#[derive(Debug, Default)]
pub(crate) struct PacketPool {
    packets: Vec<Stored>,
    free: Vec<PacketHandle>,
    /// Segments with other options than timestamps.
    segments: Vec<Beside>,
    free_segments: Vec<u32>,
    /// Contents of datagrams, and headers of routing protocols.
    pub(super) contents: Contents,
    /// By packet: the header around it, where it has one.
    headers: Vec<Option<ContentHandle>>,
    /// Where packets are numbered, for event logs.
    numbers: Option<Numbers>,
}

/// Numbers of packets, which the copies of a packet share.
#[derive(Debug, Default)]
struct Numbers {
    /// By place of the packet.
    of: Vec<u64>,
    latest: u64,
}

impl Numbers {
    #[cold]
    fn set(&mut self, handle: PacketHandle, number: u64) {
        let place = handle.0 as usize;
        if self.of.len() <= place {
            self.of.resize(place + 1, 0);
        }
        self.of[place] = number;
    }

    #[cold]
    fn give_next(&mut self, handle: PacketHandle) {
        self.latest += 1;
        self.set(handle, self.latest);
    }
}

impl PacketPool {
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketHandle {
        let body = match &packet.body {
            Body::Tcp { header, stream_offset, sent_at } => {
                match PlainSegment::of(header, *stream_offset, *sent_at) {
                    Some(plain) => StoredBody::Plain(plain),
                    None => self.put_beside(header, *stream_offset, *sent_at),
                }
            }
            Body::Datagram(datagram) => StoredBody::Datagram(*datagram),
        };
        self.store(packet.with_body(body))
    }

    /// Puts a segment into the packet that `site` sends it in. Returns its length, too.
    #[inline]
    pub fn insert_segment(&mut self, now: Instant, site: &Site, segment: &SegmentOut) -> (PacketHandle, u32) {
        let Some(plain) = PlainSegment::of(&segment.header, segment.stream_offset, now) else {
            return self.insert_long_segment(now, site, segment);
        };
        let options = TcpOptions { timestamps: plain.timestamps(), ..TcpOptions::default() };
        let header_bytes = TcpHeader { options, ..TcpHeader::default() }.wire_bytes() as u32;
        let handle = self.store_segment(StoredBody::Plain(plain), site, segment);
        (handle, IPV4_HEADER_BYTES + header_bytes + segment.payload_bytes)
    }

    #[inline(never)]
    fn insert_long_segment(
        &mut self,
        now: Instant,
        site: &Site,
        segment: &SegmentOut,
    ) -> (PacketHandle, u32) {
        let body = self.put_beside(&segment.header, segment.stream_offset, now);
        let handle = self.store_segment(body, site, segment);
        (handle, IPV4_HEADER_BYTES + segment.header.wire_bytes() as u32 + segment.payload_bytes)
    }

    #[inline(always)] // From registers to the packet's place.
    fn store_segment(&mut self, body: StoredBody, site: &Site, segment: &SegmentOut) -> PacketHandle {
        self.store(Packet {
            body,
            payload_bytes: segment.payload_bytes,
            endpoint: site.peer,
            flow: site.flow,
            source: site.node,
            destination: site.peer_node,
            ecn: segment.ecn,
            encapsulated: false,
            damaged: false,
            headed: false,
        })
    }

    #[inline]
    fn store(&mut self, packet: Packet<StoredBody>) -> PacketHandle {
        let stored = Stored(packet);
        let handle = match self.free.pop() {
            Some(handle) => {
                self.packets[handle.0 as usize] = stored;
                handle
            }
            None => {
                self.packets.push(stored);
                PacketHandle((self.packets.len() - 1) as u32)
            }
        };
        if let Some(numbers) = &mut self.numbers {
            numbers.give_next(handle);
        }
        handle
    }

    /// From now on each packet has a number, which its copies share.
    pub fn number_packets(&mut self) {
        self.numbers = Some(Numbers::default());
    }

    /// The number of a packet, where packets are numbered.
    pub fn number(&self, handle: PacketHandle) -> Option<u64> {
        self.numbers.as_ref()?.of.get(handle.0 as usize).copied()
    }

    #[cold]
    fn put_beside(&mut self, header: &TcpHeader, stream_offset: u64, sent_at: Instant) -> StoredBody {
        StoredBody::Beside(match self.free_segments.pop() {
            Some(index) => {
                self.segments[index as usize] = (*header, stream_offset, sent_at);
                index
            }
            None => {
                self.segments.push((*header, stream_offset, sent_at));
                (self.segments.len() - 1) as u32
            }
        })
    }

    /// What is known of a packet without its body.
    #[inline]
    pub fn get(&self, handle: PacketHandle) -> &Packet<StoredBody> {
        &self.packets[handle.0 as usize].0
    }

    /// Whether it is a segment that acknowledges and carries nothing.
    pub fn is_bare_acknowledgement(&self, handle: PacketHandle) -> bool {
        let packet = self.get(handle);
        let flags = match packet.body {
            StoredBody::Plain(segment) => segment.flags,
            StoredBody::Beside(index) => self.segments[index as usize].0.flags,
            StoredBody::Datagram(_) => return false,
        };
        packet.payload_bytes == 0 && flags == TcpFlags::ACK
    }

    #[inline]
    pub fn get_mut(&mut self, handle: PacketHandle) -> &mut Packet<StoredBody> {
        &mut self.packets[handle.0 as usize].0
    }

    /// Takes out a segment in the short form that reaches its endpoint, and the stream offset of its payload; `None`
    /// for another packet.
    #[inline]
    pub fn take_plain_segment(&mut self, handle: PacketHandle) -> Option<(SegmentIn, u64)> {
        let stored = self.get(handle);
        let (payload_bytes, ecn) = (stored.payload_bytes, stored.ecn);
        let StoredBody::Plain(plain) = stored.body else { return None };
        self.free.push(handle);
        Some((SegmentIn { header: plain.header(), payload_bytes, ecn }, plain.stream_offset))
    }

    /// Takes out a segment kept beside that reaches its endpoint, and the stream offset of its payload; `None` for
    /// another packet.
    pub fn take_segment_beside(&mut self, handle: PacketHandle) -> Option<(SegmentIn, u64)> {
        let StoredBody::Beside(index) = self.get(handle).body else { return None };
        let (header, stream_offset, _) = self.segments[index as usize];
        let Packet { payload_bytes, ecn, .. } = self.remove(handle);
        Some((SegmentIn { header, payload_bytes, ecn }, stream_offset))
    }

    /// The packet, with its body.
    pub fn packet(&self, handle: PacketHandle) -> Packet {
        let stored = *self.get(handle);
        stored.with_body(match stored.body {
            StoredBody::Plain(plain) => {
                let &PlainSegment { stream_offset, sent_at, .. } = &plain;
                Body::Tcp { header: plain.header(), stream_offset, sent_at }
            }
            StoredBody::Beside(index) => {
                let (header, stream_offset, sent_at) = self.segments[index as usize];
                Body::Tcp { header, stream_offset, sent_at }
            }
            StoredBody::Datagram(datagram) => Body::Datagram(datagram),
        })
    }

    /// Whether it carries a TCP segment.
    pub fn is_tcp(&self, handle: PacketHandle) -> bool {
        !matches!(self.get(handle).body, StoredBody::Datagram(_))
    }

    /// Gives the slot back; the handle must not be used again. What the pool keeps for a datagram stays until
    /// [`PacketPool::forget`].
    pub fn remove(&mut self, handle: PacketHandle) -> Packet {
        let packet = self.packet(handle);
        if let StoredBody::Beside(index) = self.get(handle).body {
            self.free_segments.push(index);
        }
        if packet.headed {
            self.drop_header(handle);
        }
        self.free.push(handle);
        packet
    }

    /// A second packet like the one at `handle`.
    pub fn duplicate(&mut self, handle: PacketHandle) -> PacketHandle {
        let mut twin = self.packet(handle);
        if let Body::Datagram(datagram) = &mut twin.body {
            datagram.content = self.contents.duplicate(datagram.content);
        }
        let header = self.header_of(handle).map(|header| self.contents.duplicate(header));
        let twin = self.insert(twin);
        if header.is_some() {
            self.set_header(twin, header);
        }
        if let (Some(number), Some(numbers)) = (self.number(handle), &mut self.numbers) {
            numbers.set(twin, number);
        }
        twin
    }

    /// Puts a header around a packet, in place of one that it has.
    pub fn put_header<C: Content + Clone>(&mut self, handle: PacketHandle, header: C) {
        self.drop_header(handle);
        let header = self.contents.keep(header);
        self.set_header(handle, Some(header));
    }

    /// The header around a packet.
    pub fn header(&self, handle: PacketHandle) -> Option<&dyn Content> {
        self.contents.get(self.header_of(handle)?)
    }

    /// The header around a packet, if it is of type `C`.
    pub fn header_as<C: Content + Clone>(&self, handle: PacketHandle) -> Option<&C> {
        self.contents.get_as(self.header_of(handle)?)
    }

    /// Takes the header off a packet; the header itself if it is of type `C`.
    pub fn take_header<C: Content + Clone>(&mut self, handle: PacketHandle) -> Option<C> {
        let header = self.contents.take(self.header_of(handle)?);
        self.drop_header(handle);
        header
    }

    /// Takes the header off a packet, if it has one.
    pub fn drop_header(&mut self, handle: PacketHandle) {
        if let Some(header) = self.header_of(handle) {
            self.contents.release(header);
            self.set_header(handle, None);
        }
    }

    fn header_of(&self, handle: PacketHandle) -> Option<ContentHandle> {
        self.get(handle).headed.then(|| self.headers[handle.0 as usize])?
    }

    fn set_header(&mut self, handle: PacketHandle, header: Option<ContentHandle>) {
        self.get_mut(handle).headed = header.is_some();
        if self.headers.len() < self.packets.len() {
            self.headers.resize(self.packets.len(), None);
        }
        self.headers[handle.0 as usize] = header;
    }

    /// The content of a datagram in the pool, if it is of type `C`.
    pub fn content_as<C: Content + Clone>(&self, handle: PacketHandle) -> Option<&C> {
        match self.get(handle).body {
            StoredBody::Datagram(datagram) => self.contents.get_as(datagram.content),
            StoredBody::Plain(_) | StoredBody::Beside(_) => None,
        }
    }

    /// Takes out the content of a datagram, if it is of type `C`. Its place is free once the packet is gone.
    pub fn take_content<C: Content + Clone>(&mut self, handle: PacketHandle) -> Option<C> {
        match self.get(handle).body {
            StoredBody::Datagram(datagram) => self.contents.take(datagram.content),
            StoredBody::Plain(_) | StoredBody::Beside(_) => None,
        }
    }

    /// Gives back the slot of a packet that goes nowhere, and what the pool keeps for it.
    pub fn discard(&mut self, handle: PacketHandle) {
        let packet = self.remove(handle);
        self.forget(&packet);
    }

    /// Gives back what the pool keeps for a packet that has been taken out, whether or not somebody took it.
    pub fn forget(&mut self, packet: &Packet) {
        if let Body::Datagram(datagram) = packet.body {
            self.contents.release(datagram.content);
        }
    }

    /// Keeps the content of a datagram.
    pub fn keep<C: Content + Clone>(&mut self, content: C) -> ContentHandle {
        self.contents.keep(content)
    }

    /// What is kept for a datagram, for captures and logs; `None` once it has been taken.
    pub fn content(&self, datagram: &Datagram) -> Option<&dyn Content> {
        self.contents.get(datagram.content)
    }

    /// Takes out what is kept for a datagram, if it is of type `C`. Its place is free after [`PacketPool::forget`].
    pub fn take<C: Content + Clone>(&mut self, datagram: &Datagram) -> Option<C> {
        self.contents.take(datagram.content)
    }

    /// When a packet's host handed it to its first link.
    pub fn sent_at(&self, handle: PacketHandle) -> Instant {
        match self.get(handle).body {
            StoredBody::Plain(segment) => segment.sent_at,
            StoredBody::Beside(index) => self.segments[index as usize].2,
            StoredBody::Datagram(datagram) => datagram.sent_at,
        }
    }

    /// How many packets of each of the first `flows` flows are under way.
    pub fn under_way(&self, flows: usize) -> Vec<u64> {
        let mut is_free = vec![false; self.packets.len()];
        self.free.iter().for_each(|handle| is_free[handle.0 as usize] = true);
        let mut counts = vec![0; flows];
        for (Stored(packet), _) in self.packets.iter().zip(is_free).filter(|(_, is_free)| !is_free) {
            if let Some(count) = counts.get_mut(packet.flow.index()) {
                *count += 1;
            }
        }
        counts
    }

    /// Packets in the pool.
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}
