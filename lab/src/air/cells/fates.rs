//! What becomes of packets, carried out.
use super::super::carriage::{Carried, Output, Payload};
use super::super::telling::Told;
use super::{CellNodes, OF_A_CELL};
use prismux_routing::RoutingEndpoint;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wireless::cells::{Inwards, Outwards};
use prismux_wireless::{HostId, Outgoing};

impl<R: RoutingEndpoint<Carried<P>>, P: Payload> CellNodes<R, P> {
    pub(super) fn carry_out_outwards(
        &mut self,
        now: Instant,
        host: HostId,
        fate: Option<Outwards<Carried<P>>>,
    ) {
        match fate {
            Some(Outwards::Air(place, packet)) => {
                let Some(cell) = self.cells.get(place).copied() else { return };
                if !self.transmit(now, host, cell.radio, packet)
                    && let Some(station) = self.station(host)
                {
                    station.count_queue_drop();
                }
            }
            // Its kernel knows the way by now.
            Some(Outwards::Fallback(carried)) => {
                self.outputs.push_back(Output::Packet(now, host, carried.packet));
            }
            Some(Outwards::NoLink(packet)) => self.lose(now, host, DropReason::NoRoute, &packet),
            Some(Outwards::QueueFull(packet)) => self.lose(now, host, DropReason::QueueFull, &packet),
            Some(Outwards::GivenUp(packet)) => self.lose(now, host, DropReason::Unanswered, &packet),
            Some(Outwards::Held) | None => {}
        }
    }

    pub(super) fn carry_out_inwards(
        &mut self,
        now: Instant,
        base: HostId,
        fate: Option<Inwards<HostId, Carried<P>>>,
    ) {
        match fate {
            Some(Inwards::Air(to, packet)) => {
                let radio = self.radio_towards(base, to);
                if !self.transmit(now, radio, to, packet)
                    && let Some(machine) = self.base_station(base)
                {
                    machine.count_queue_drop();
                }
            }
            // The base station's kernel forwards it, by the routes as they are by now.
            Some(Inwards::Wire(carried)) => {
                self.outputs.push_back(Output::Packet(now, base, carried.packet));
            }
            Some(Inwards::Lost(packet)) => self.lose(now, base, DropReason::NoRoute, &packet),
            Some(Inwards::GivenUp(packet)) => self.lose(now, base, DropReason::Unanswered, &packet),
            Some(Inwards::Kept) | None => {}
        }
    }

    /// Hands a packet to a node's radio. Says whether it had room.
    fn transmit(&mut self, now: Instant, from: HostId, to: HostId, packet: Carried<P>) -> bool {
        let (bytes, priority, label) = (packet.bytes(), packet.priority(), packet.label());
        let payload = self.frames.put(packet) | OF_A_CELL;
        let refused =
            self.relays.radios.air.send(now, from, Outgoing { to: Some(to), bytes, priority, payload });
        match &refused {
            Ok(()) => self.tell(Told::queued(now, from, label)),
            Err(refused) => {
                self.lose_frame(now, from, DropReason::QueueFull, refused.payload & !OF_A_CELL);
            }
        }
        refused.is_ok()
    }

    /// A packet goes no further than a node.
    pub(super) fn lose(&mut self, now: Instant, host: HostId, reason: DropReason, packet: &Carried<P>) {
        self.tell(Told::dropped(now, host, reason, packet));
    }

    /// A packet in a frame goes no further than a node.
    pub(super) fn lose_frame(&mut self, now: Instant, host: HostId, reason: DropReason, number: u32) {
        if let Some(packet) = self.frames.take(number) {
            self.lose(now, host, reason, &packet);
        }
    }
}
