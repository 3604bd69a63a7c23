//! Packets on wired links. They take a path without calls or look-ups.
use super::{Network, Target};
use crate::core::ids::PortId;
use crate::core::packet::{Carried, Packet, PacketHandle};
use crate::media::link::Port;
use prismux_link::{Delivery, Dropped, LinkChange, PacketKind};
use prismux_trace::event::Event;
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::{Ecn, FlowKey};

impl Network {
    /// The next packet that has arrived through a port with a plain link, for whose next delivery every event of it is.
    /// With its size. Then call [`Network::come_out`] and [`Network::go_on`].
    #[inline]
    pub fn next_plain_arrival(&mut self, port: PortId) -> Option<(Carried, u32)> {
        self.ports[port.index()].link.poll_plain(self.now)
    }

    /// Whether another packet has arrived through a port with a plain link. If not, the port's next event is set.
    #[inline]
    pub fn go_on(&mut self, port: PortId) -> bool {
        match self.ports[port.index()].link.next_delivery() {
            Some(at) if at > self.now => {
                self.queue.push(at, Target::Port(port));
                false
            }
            next => next.is_some(),
        }
    }

    /// Takes the event of a port whose link is not plain; false for a leftover. Then call [`Network::next_arrival`]
    /// until `None`.
    pub fn begin(&mut self, port: PortId) -> bool {
        let armed = &mut self.armed[port.index()];
        let due = *armed == self.now;
        if due {
            *armed = Instant::MAX;
        }
        due
    }

    /// The next packet that arrives for an endpoint through a port whose link is not plain; packets for elsewhere are
    /// sent on. When nothing is left the port's next event is set.
    pub fn next_arrival(&mut self, port: PortId) -> Option<PacketHandle> {
        while let Some(delivery) = self.ports[port.index()].link.poll_delivery(self.now) {
            if let Some(local) = self.arrive(port, delivery) {
                return Some(local);
            }
        }
        self.sweep(port);
        self.arm(port);
        None
    }

    /// A packet comes out of a link that is not plain.
    fn arrive(&mut self, port: PortId, delivery: Delivery<Carried>) -> Option<PacketHandle> {
        let Delivery { mut packet, size_bytes, corrupted, marked, copy, .. } = delivery;
        if copy {
            packet.packet = self.pool.duplicate(packet.packet);
        }
        if corrupted {
            self.pool.get_mut(packet.packet).damaged = true;
        }
        if marked {
            self.pool.get_mut(packet.packet).ecn = Ecn::Ce;
        }
        self.come_out(port, packet, size_bytes)
    }

    /// A packet that is as it was comes out of a link. Returns one that is for an endpoint here.
    #[inline(always)] // Into both loops, of plain links and of others.
    pub fn come_out(&mut self, port: PortId, packet: Carried, size_bytes: u32) -> Option<PacketHandle> {
        if let Some(observer) = &mut self.observer {
            observer.delivered(self.now, port, size_bytes, &self.pool, packet.packet);
        }
        let end = self.ends[port.index()];
        let node = end.node;
        match end.is_plain() {
            true if packet.towards == node => return Some(packet.packet),
            true if self.is_interface_of(packet.towards, node) => return Some(packet.packet),
            true => self.forward(node, size_bytes, packet),
            false => self.pass(node, size_bytes, packet),
        }
        None
    }

    /// Hands a packet to a link, or to the medium that the exit leads into.
    #[inline]
    pub fn send(&mut self, port: PortId, size_bytes: u32, carried: Carried) {
        let Some(Port { link }) = self.ports.get_mut(port.index()) else {
            return self.send_on_medium(port, size_bytes, carried);
        };
        if let Some(observer) = &mut self.observer {
            observer.sent(self.now, port, size_bytes, &self.pool, carried.packet);
        }
        let plain = link.is_plain();
        if !plain && link.is_managed() {
            return self.send_managed(port, size_bytes, carried);
        }
        let first = plain && link.peek().is_none();
        match link.enqueue(self.now, size_bytes, carried) {
            Ok(()) if first => {
                if let Some(at) = link.next_delivery() {
                    self.queue.push(at, Target::Port(port));
                }
            }
            Ok(()) if plain => {}
            Ok(()) => self.arm(port),
            Err(dropped) => self.discard(port, dropped),
        }
    }

    /// Hands a packet to a link whose queue wants to know more of it.
    #[cold]
    fn send_managed(&mut self, port: PortId, size_bytes: u32, carried: Carried) {
        let kind = kind_of(&self.pool.packet(carried.packet));
        let outcome = self.ports[port.index()].link.enqueue_kind(self.now, size_bytes, kind, carried);
        if let Err(dropped) = outcome {
            self.discard(port, dropped);
        }
        self.sweep(port);
        self.arm(port);
    }

    /// Sets the next event of a port that is not plain.
    fn arm(&mut self, port: PortId) {
        let (link, armed) = (&self.ports[port.index()].link, &mut self.armed[port.index()]);
        if let Some(at) = link.next_wakeup().filter(|at| at < armed) {
            *armed = at;
            self.queue.push(at, Target::Port(port));
        }
    }

    #[cold]
    fn discard(&mut self, port: PortId, dropped: Dropped<Carried>) {
        if let Some(observer) = &mut self.observer {
            observer.dropped(self.now, port, &dropped, &self.pool);
        }
        self.pool.discard(dropped.packet.packet);
    }

    /// Frees what an outage took out of a link.
    fn sweep(&mut self, port: PortId) {
        while let Some(dropped) = self.ports[port.index()].link.poll_dropped() {
            self.discard(port, dropped);
        }
    }

    /// Changes one direction of a link.
    pub fn change_link(&mut self, port: PortId, change: LinkChange) {
        let link = &mut self.ports[port.index()].link;
        if link.is_plain() {
            self.armed[port.index()] = link.next_delivery().unwrap_or(Instant::MAX);
        }
        link.apply(self.now, change);
        let up = link.is_up();
        self.sweep(port);
        self.arm(port);
        self.observe(|names| Event::LinkChanged {
            link: names.link(port),
            from: Some(names.sender(port)),
            rate_bps: change.rate.map(Rate::as_bps),
            delay_ns: change.delay.map(Duration::as_nanos),
            up,
        });
    }

    /// Sets the first events.
    pub fn start(&mut self) {
        for index in 0..self.ports.len() {
            self.arm(PortId(index as u32));
        }
    }
}

/// Multiplies by an odd number whose bits look random (Knuth), so that neighbours fall far apart.
const SCATTER: u32 = 0x9e37_79b1;

/// What a managed queue has to know: who understands marks, and which flow it is, by addresses and ports.
fn kind_of(packet: &Packet) -> PacketKind {
    let FlowKey { source_port, destination_port, .. } = packet.flow_key();
    let ports = u32::from(source_port) << 16 | u32::from(destination_port);
    let words = [packet.source.0, packet.destination.0, ports, packet.flow.0];
    let flow =
        words.into_iter().fold(0, |hash: u32, word| (hash.rotate_left(5) ^ word).wrapping_mul(SCATTER));
    PacketKind { ecn_capable: packet.ecn != Ecn::NotEct, flow: flow >> 8 }
}
