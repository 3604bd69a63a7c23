//! Copies of packets outside of the pool, which can be put into it again.
use super::content::{Content, ContentHandle, Contents};
use super::{Body, Packet, PacketHandle, PacketPool};
use std::fmt;

/// A copy of a packet, with what its datagram carries.
#[derive(Debug, Clone)]
pub(crate) struct KeptPacket {
    packet: Packet,
    content: Option<KeptContent>,
}

impl KeptPacket {
    /// The packet; of a datagram's content only [`PacketPool::put_back_kept`] makes use.
    pub const fn packet(&self) -> &Packet {
        &self.packet
    }
}

/// A copy of a content, whatever its type.
#[derive(Debug)]
pub(super) struct KeptContent(Box<dyn AnyContent>);

impl KeptContent {
    pub fn of<C: Content + Clone>(content: C) -> Self {
        Self(Box::new(Typed(content)))
    }
}

impl Clone for KeptContent {
    fn clone(&self) -> Self {
        Self(self.0.copy())
    }
}

#[derive(Debug)]
struct Typed<C>(C);

trait AnyContent: fmt::Debug + Send {
    fn copy(&self) -> Box<dyn AnyContent>;
    fn put_back(&self, contents: &mut Contents) -> ContentHandle;
}

impl<C: Content + Clone> AnyContent for Typed<C> {
    fn copy(&self) -> Box<dyn AnyContent> {
        Box::new(Self(self.0.clone()))
    }

    fn put_back(&self, contents: &mut Contents) -> ContentHandle {
        contents.keep(self.0.clone())
    }
}

impl PacketPool {
    /// A copy of the packet at `handle` without the headers around it.
    pub fn keep_copy(&self, handle: PacketHandle) -> KeptPacket {
        let mut packet = self.packet(handle);
        (packet.headed, packet.encapsulated) = (false, false);
        let content = match packet.body {
            Body::Datagram(datagram) => self.contents.keep_copy(datagram.content),
            Body::Tcp { .. } => None,
        };
        KeptPacket { packet, content }
    }

    /// Puts a copy into the pool.
    pub fn put_back_kept(&mut self, kept: &KeptPacket) -> PacketHandle {
        let mut packet = kept.packet;
        if let (Body::Datagram(datagram), Some(content)) = (&mut packet.body, &kept.content) {
            datagram.content = content.0.put_back(&mut self.contents);
        }
        self.insert(packet)
    }
}
