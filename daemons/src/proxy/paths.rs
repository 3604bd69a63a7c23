//! How large packets may be that go down by each uplink of a home.
use super::community::Turn;
use super::homes::PATH_ASKER;
use crate::tunnel::control::{Message, Probe};
use prismux_prism::LinkId;
use prismux_units::Instant;

impl Turn<'_> {
    /// A link is back, or somewhere else: what its path takes may be another.
    pub(super) fn begin_path(&mut self, now: Instant, link: LinkId) {
        if let Some(path) = self.links.homes.path(link) {
            path.begin(now);
        }
    }

    /// Probes of sizes, and what their absence says.
    pub(super) fn expire_paths(&mut self, now: Instant) {
        let all: Vec<_> = self.links.members.iter().map(|member| (member.link, member.peer)).collect();
        for (link, peer) in all {
            let Some(path) = self.links.homes.path(link) else { continue };
            let before = path.limit();
            let probes = path.poll(now);
            if path.limit() != before {
                self.path_changed(link);
            }
            for (number, bytes) in probes {
                let probe = Probe { asker: PATH_ASKER, number };
                self.send_to(link, &Message::PathProbe(probe, bytes - peer.overhead_bytes()));
            }
        }
    }

    /// A size has come through.
    pub(super) fn path_answered(&mut self, link: LinkId, probe: Probe) {
        if self.links.homes.path(link).is_some_and(|path| path.answered(probe.number)) {
            self.path_changed(link);
        }
    }

    fn path_changed(&mut self, link: LinkId) {
        let Some(member) = self.links.members.get(link) else { return };
        let limit = self.links.homes.path_mtu_bytes(link);
        match limit {
            Some(bytes) => tracing::info!(uplink = member.name, bytes, "what is larger does not pass"),
            None => tracing::info!(uplink = member.name, "packets of every size pass again"),
        }
        let peer = member.peer;
        if let Some(sender) = self.outlet.senders.iter_mut().find(|s| s.transport() == peer.transport) {
            sender.limit_path(peer, limit);
        }
        self.tell_mtu();
    }

    /// New connections are told what the narrowest uplink takes: any of their packets may go by it.
    pub(super) fn tell_mtu(&mut self) {
        let there = self.links.members.iter().filter(|member| member.up);
        let narrowest = there.filter_map(|member| self.links.homes.path_mtu_bytes(member.link)).min();
        let inner_bytes = self.config.tun_mtu_bytes();
        let inner_bytes =
            narrowest.map_or(inner_bytes, |bytes| inner_bytes.min(bytes - self.config.overhead_bytes()));
        self.striping.set_mtu(inner_bytes);
    }
}
