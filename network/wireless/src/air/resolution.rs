//! Hosts that ask which radio has the address of a neighbour.
use super::{Air, HostId};
use crate::event::AirEvent;
use crate::mac::Outgoing;
use crate::resolution::{ArpOperation, Load, Step, outgoing};
use crate::schedule::Target;
use prismux_units::Instant;

impl<P: Copy> Air<P> {
    /// Whether a packet for a neighbour can go at once; else it waits, or has failed.
    pub(super) fn resolves(&mut self, now: Instant, from: HostId, to: HostId, packet: Outgoing<P>) -> bool {
        let resolver = &mut self.resolvers[from.0 as usize];
        match resolver.send(now, to, packet) {
            Step::Known => return true,
            Step::Waits { displaced, asks } => {
                if let Some(payload) = displaced.map(Load::Packet) {
                    self.events.push_back(AirEvent::Unresolved { host: from, next_hop: to, payload });
                }
                if asks {
                    self.ask(now, from, to);
                }
            }
            Step::Failed { held } => {
                for payload in held.into_iter().chain([packet.payload]).map(Load::Packet) {
                    self.events.push_back(AirEvent::Failed { host: from, next_hop: to, payload });
                }
            }
        }
        // What was told above is taken soon, whatever else happens.
        self.schedule.push(now, Target::Resolver(from.0));
        false
    }

    /// Puts a packet into the interface queue. What has no room there comes back, but for messages.
    pub(super) fn enqueue(&mut self, now: Instant, from: HostId, packet: Outgoing<P>) -> Option<Outgoing<P>> {
        let Outgoing { to, bytes, priority, payload } = packet;
        let refused =
            self.put(now, from, Outgoing { to, bytes, priority, payload: Load::Packet(payload) })?;
        let Outgoing { to, bytes, priority, payload } = refused;
        Some(Outgoing { to, bytes, priority, payload: payload.packet()? })
    }

    fn put(&mut self, now: Instant, from: HostId, packet: Outgoing<Load<P>>) -> Option<Outgoing<Load<P>>> {
        let refused = self.hosts[from.0 as usize].enqueue(now, packet, self.kinds.mac(from.0));
        self.arm(now, from.0);
        refused
    }

    /// Broadcasts a question. One that finds no room is lost, as on its way.
    fn ask(&mut self, now: Instant, from: HostId, neighbour: HostId) {
        self.put(now, from, outgoing(from, ArpOperation::Request, neighbour));
    }

    /// A question of a host may be due again.
    pub(super) fn resolver_due(&mut self, now: Instant, host: HostId) {
        let (asked, failed) = self.resolvers[host.0 as usize].timeout(now);
        for neighbour in asked {
            self.ask(now, host, neighbour);
        }
        for (next_hop, payload) in failed {
            self.events.push_back(AirEvent::Failed { host, next_hop, payload: Load::Packet(payload) });
        }
        if let Some(due) = self.resolvers[host.0 as usize].due() {
            self.schedule.push(due, Target::Resolver(host.0));
        }
    }

    /// Messages that have come to hosts are taken in, and answered.
    pub(super) fn take_answers(&mut self, now: Instant) {
        while let Some((host, message)) = self.events.pop_arp() {
            let resolver = &mut self.resolvers[host.0 as usize];
            let (released, answers) = resolver.receive(now, host, &message);
            if answers {
                resolver.replies += 1;
                self.put(now, host, outgoing(host, ArpOperation::Reply, message.sender));
            }
            if let Some(packet) = released
                && let Some(refused) = self.enqueue(now, host, packet)
            {
                let payload = Load::Packet(refused.payload);
                self.events.push_back(AirEvent::Refused { host, payload });
            }
        }
    }
}
