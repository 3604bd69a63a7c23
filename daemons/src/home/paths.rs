//! How large packets may be that go up by each uplink.
use super::Home;
use super::uplink::Uplink;
use crate::tunnel::control::{Message, Probe};
use prismux_units::Instant;

/// Who asks, in a home's probe of a size.
pub(super) const PATH_ASKER: u64 = 3;

impl Home {
    /// Probes of sizes, and what their absence says.
    pub(super) fn expire_path(&mut self, now: Instant, index: usize) {
        let Some(uplink) = self.uplink(index).filter(|uplink| uplink.is_registered()) else { return };
        let (before, overhead_bytes) = (uplink.path.limit(), uplink.overhead_bytes());
        let probes = uplink.path.poll(now);
        if uplink.path.limit() != before {
            self.path_changed(index);
        }
        for (number, bytes) in probes {
            let probe = Probe { asker: PATH_ASKER, number };
            self.send_control(now, index, &Message::PathProbe(probe, bytes - overhead_bytes));
        }
    }

    /// The gateway asks whether a size comes through.
    pub(super) fn path_asked(&mut self, now: Instant, index: usize, probe: Probe) {
        self.send_control(now, index, &Message::Echo(probe));
    }

    /// A size has come through.
    pub(super) fn path_answered(&mut self, index: usize, probe: Probe) {
        if self.uplink(index).is_some_and(|uplink| uplink.path.answered(probe.number)) {
            self.path_changed(index);
        }
    }

    fn path_changed(&mut self, index: usize) {
        let Some(uplink) = self.uplink(index) else { return };
        uplink.limit_path();
        match uplink.path.limit() {
            Some(bytes) => {
                tracing::info!(uplink = uplink.config.device, bytes, "what is larger does not pass")
            }
            None => tracing::info!(uplink = uplink.config.device, "packets of every size pass again"),
        }
        self.tell_mtu();
    }

    /// New connections are told what the narrowest uplink takes: any of their packets may go by it.
    pub(super) fn tell_mtu(&mut self) {
        let working = self.outlet.uplinks.iter().filter(|uplink| uplink.is_registered());
        let narrowest = working.filter_map(|uplink: &Uplink| uplink.path.limit()).min();
        let inner_bytes = narrowest.map(|bytes| bytes - self.config.around_bytes());
        self.striping
            .set_mtu(inner_bytes.map_or(self.inner_mtu_bytes, |bytes| bytes.min(self.inner_mtu_bytes)));
    }
}
