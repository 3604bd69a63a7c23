//! Where packets are while they are under way.
//!
//! With thousands of flows a packet has left the near caches when it is looked at again, so what it takes at rest counts:
//! an ordinary segment takes one cache line. What few packets have (other options than timestamps, other bodies) is kept
//! beside.
use super::{Body, IPV4_HEADER_BYTES, Packet};
use crate::endpoint::Site;
use prismux_ptcp::SegmentOut;
use prismux_tcp::SegmentIn;
use prismux_wire::{SeqNumber, TcpFlags, TcpHeader, TcpOptions, Timestamps};

/// A packet in a [`PacketPool`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PacketHandle(u32);

/// A pTCP segment in a [`PacketPool`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentHandle(u32);

/// A packet at rest.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Stored(Packet<StoredBody>);

const _: () = assert!(size_of::<Stored>() == 64, "a packet fills one cache line");

/// The body of a packet at rest.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StoredBody {
    Plain(PlainSegment),
    /// The index of the body among those kept beside.
    Beside(u32),
}

/// A segment without other options than timestamps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainSegment {
    stream_offset: u64,
    seq: SeqNumber,
    ack: SeqNumber,
    timestamps: Option<Timestamps>,
    source_port: u16,
    destination_port: u16,
    window: u16,
    flags: TcpFlags,
}

impl PlainSegment {
    /// The short form of a segment that has one.
    #[inline]
    fn of(header: &TcpHeader, stream_offset: u64) -> Option<Self> {
        // By name, so that nothing new is forgotten.
        let &TcpHeader { source_port, destination_port, seq, ack, flags, window, urgent, ref options } =
            header;
        let &TcpOptions {
            mss,
            window_scale,
            sack_permitted,
            timestamps,
            ref sack,
            ref loss_report,
            handoff,
            lost_by_link,
        } = options;
        let is_plain = sack.is_empty()
            && urgent == 0
            && mss.is_none()
            && window_scale.is_none()
            && !sack_permitted
            && loss_report.is_none()
            && handoff.is_none()
            && !lost_by_link;
        is_plain.then_some(Self {
            stream_offset,
            seq,
            ack,
            timestamps,
            source_port,
            destination_port,
            window,
            flags,
        })
    }

    #[inline]
    fn header(&self) -> TcpHeader {
        let &Self { seq, ack, timestamps, source_port, destination_port, window, flags, .. } = self;
        let options = TcpOptions { timestamps, ..TcpOptions::default() };
        TcpHeader { source_port, destination_port, seq, ack, flags, window, urgent: 0, options }
    }
}

/// Storage for packets under way; freed slots are reused last in, first out, while they are still in the cache.
#[derive(Debug, Default)]
pub(crate) struct PacketPool {
    packets: Vec<Stored>,
    free: Vec<PacketHandle>,
    bodies: Vec<Body>,
    free_bodies: Vec<u32>,
    segments: Vec<Option<SegmentOut>>,
    free_segments: Vec<SegmentHandle>,
}

impl PacketPool {
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketHandle {
        let body = match &packet.body {
            Body::Tcp { header, stream_offset } => PlainSegment::of(header, *stream_offset),
            _ => None,
        };
        let body = body.map_or_else(|| self.put_beside(packet.body), StoredBody::Plain);
        self.store(packet.with_body(body))
    }

    /// Puts a segment into the packet that `site` sends it in. Returns its length, too.
    #[inline]
    pub fn insert_segment(&mut self, site: &Site, segment: &prismux_tcp::SegmentOut) -> (PacketHandle, u32) {
        let &prismux_tcp::SegmentOut { ref header, stream_offset, payload_bytes, ecn } = segment;
        let (body, header_bytes) = match PlainSegment::of(header, stream_offset) {
            Some(plain) => {
                let options = TcpOptions { timestamps: plain.timestamps, ..TcpOptions::default() };
                (StoredBody::Plain(plain), TcpHeader { options, ..TcpHeader::default() }.wire_bytes())
            }
            None => (self.put_beside(Body::Tcp { header: *header, stream_offset }), header.wire_bytes()),
        };
        let handle = self.store(Packet {
            body,
            payload_bytes,
            endpoint: site.peer,
            flow: site.flow,
            source: site.node,
            destination: site.peer_node,
            ecn,
            tunnelled: false,
            damaged: false,
        });
        (handle, IPV4_HEADER_BYTES + header_bytes as u32 + payload_bytes)
    }

    #[inline]
    fn store(&mut self, packet: Packet<StoredBody>) -> PacketHandle {
        let stored = Stored(packet);
        match self.free.pop() {
            Some(handle) => {
                self.packets[handle.0 as usize] = stored;
                handle
            }
            None => {
                self.packets.push(stored);
                PacketHandle((self.packets.len() - 1) as u32)
            }
        }
    }

    #[cold]
    fn put_beside(&mut self, body: Body) -> StoredBody {
        StoredBody::Beside(match self.free_bodies.pop() {
            Some(index) => {
                self.bodies[index as usize] = body;
                index
            }
            None => {
                self.bodies.push(body);
                (self.bodies.len() - 1) as u32
            }
        })
    }

    /// What is known of a packet without its body.
    #[inline]
    pub fn get(&self, handle: PacketHandle) -> &Packet<StoredBody> {
        &self.packets[handle.0 as usize].0
    }

    #[inline]
    pub fn get_mut(&mut self, handle: PacketHandle) -> &mut Packet<StoredBody> {
        &mut self.packets[handle.0 as usize].0
    }

    /// Takes out a segment that reaches its endpoint, and the stream offset of its payload; `None` for another packet.
    #[inline]
    pub fn take_segment(&mut self, handle: PacketHandle) -> Option<(SegmentIn, u64)> {
        let stored = self.get(handle);
        let (payload_bytes, ecn) = (stored.payload_bytes, stored.ecn);
        match stored.body {
            StoredBody::Plain(plain) => {
                self.free.push(handle);
                Some((SegmentIn { header: plain.header(), payload_bytes, ecn }, plain.stream_offset))
            }
            StoredBody::Beside(index) => self.take_segment_beside(handle, index),
        }
    }

    #[cold]
    fn take_segment_beside(&mut self, handle: PacketHandle, index: u32) -> Option<(SegmentIn, u64)> {
        let Body::Tcp { header, stream_offset } = self.bodies[index as usize] else { return None };
        let Packet { payload_bytes, ecn, .. } = self.remove(handle);
        Some((SegmentIn { header, payload_bytes, ecn }, stream_offset))
    }

    /// The packet, with its body.
    pub fn packet(&self, handle: PacketHandle) -> Packet {
        let stored = *self.get(handle);
        stored.with_body(match stored.body {
            StoredBody::Beside(index) => self.bodies[index as usize],
            StoredBody::Plain(plain) => {
                Body::Tcp { header: plain.header(), stream_offset: plain.stream_offset }
            }
        })
    }

    /// Whether it carries a TCP segment.
    pub fn is_tcp(&self, handle: PacketHandle) -> bool {
        match self.get(handle).body {
            StoredBody::Plain(_) => true,
            StoredBody::Beside(index) => matches!(self.bodies[index as usize], Body::Tcp { .. }),
        }
    }

    /// Gives the slot back; the handle must not be used again.
    pub fn remove(&mut self, handle: PacketHandle) -> Packet {
        let packet = self.packet(handle);
        if let StoredBody::Beside(index) = self.get(handle).body {
            self.free_bodies.push(index);
        }
        self.free.push(handle);
        packet
    }

    /// A second packet like the one at `handle`.
    pub fn duplicate(&mut self, handle: PacketHandle) -> PacketHandle {
        let mut twin = self.packet(handle);
        if let Body::Ptcp { segment, .. } = &mut twin.body {
            let copy = self.segments[segment.0 as usize].clone();
            if let Some(copy) = copy {
                *segment = self.keep(copy);
            }
        }
        self.insert(twin)
    }

    /// Gives back the slot of a packet that goes nowhere, and what the pool keeps for it.
    pub fn discard(&mut self, handle: PacketHandle) {
        let packet = self.remove(handle);
        self.forget(&packet);
    }

    /// Gives back what the pool keeps for a packet that has been taken out.
    pub fn forget(&mut self, packet: &Packet) {
        if let Body::Ptcp { segment, .. } = packet.body {
            self.take(segment);
        }
    }

    /// Keeps a segment for the body of a packet.
    pub fn keep(&mut self, segment: SegmentOut) -> SegmentHandle {
        match self.free_segments.pop() {
            Some(handle) => {
                self.segments[handle.0 as usize] = Some(segment);
                handle
            }
            None => {
                self.segments.push(Some(segment));
                SegmentHandle((self.segments.len() - 1) as u32)
            }
        }
    }

    /// The segment that is kept for a packet's body.
    pub fn segment(&self, handle: SegmentHandle) -> Option<&SegmentOut> {
        self.segments[handle.0 as usize].as_ref()
    }

    /// Takes it out.
    pub fn take(&mut self, handle: SegmentHandle) -> Option<SegmentOut> {
        let segment = self.segments[handle.0 as usize].take();
        if segment.is_some() {
            self.free_segments.push(handle);
        }
        segment
    }

    /// Packets in the pool.
    pub fn len(&self) -> usize {
        self.packets.len() - self.free.len()
    }
}
