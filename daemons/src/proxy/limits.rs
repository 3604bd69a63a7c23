//! Rate limits that members ask for: what goes to them waits for its turn.
use super::outlet::Way;
use crate::tunnel::Peer;
use prismux_linux::packet::PacketBuf;
use prismux_prism::LinkId;
use prismux_sharing::Shaper;
use prismux_trace::event::DropReason;
use prismux_units::{Instant, Rate};
use prismux_wire::{Ecn, GreHeader};

/// A packet for a member, and what stands before it.
type Waiting = (Peer, GreHeader, Ecn, PacketBuf);

/// The limits of links.
#[derive(Debug, Default)]
pub(super) struct Limits {
    by_link: Vec<Option<Shaper<Waiting>>>,
}

impl Limits {
    /// What a member asks for; `None` for as much as its link carries.
    pub fn set(&mut self, link: LinkId, limit: Option<Rate>) {
        let index = usize::from(link.0);
        if self.by_link.len() <= index && limit.is_some() {
            self.by_link.resize_with(index + 1, || None);
        }
        if let Some(place) = self.by_link.get_mut(index)
            && place.as_ref().map(Shaper::rate) != limit
        {
            *place = limit.map(Shaper::new);
        }
    }

    fn of(&mut self, link: LinkId) -> Option<&mut Shaper<Waiting>> {
        self.by_link.get_mut(usize::from(link.0))?.as_mut()
    }

    /// When a packet's turn comes.
    pub fn deadline(&self) -> Option<Instant> {
        self.by_link.iter().flatten().filter_map(Shaper::deadline).min()
    }
}

impl Way<'_> {
    /// A packet for a link, which may have a limit.
    pub(super) fn pass(&mut self, now: Instant, link: LinkId, waiting: Waiting) {
        let (peer, header, ecn, packet) = waiting;
        let bytes = peer.line_bytes(packet.len(), header.sequence.is_some(), header.key.is_some());
        let Some(shaper) = self.links.limits.of(link) else {
            return self.outlet.push(peer, &header, ecn, packet);
        };
        match shaper.push(bytes, (peer, header, ecn, packet)) {
            Ok(()) => self.serve(now, link),
            Err(_) => self.outlet.drops.count(DropReason::RateLimited),
        }
    }

    fn serve(&mut self, now: Instant, link: LinkId) {
        let Self { links, outlet } = self;
        while let Some((peer, header, ecn, packet)) =
            links.limits.of(link).and_then(|shaper| shaper.poll(now))
        {
            outlet.push(peer, &header, ecn, packet);
        }
    }

    /// Sends what limits let go.
    pub(super) fn serve_all(&mut self, now: Instant) {
        for link in (0_u8..).map(LinkId).take(self.links.limits.by_link.len()) {
            self.serve(now, link);
        }
    }
}
