//! What becomes of packets, carried out.
use super::super::carriage::{Carried, Output, Payload};
use super::{CellNodes, OF_A_CELL};
use prismux_routing::RoutingEndpoint;
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
                let Some(base) = self.base_stations.get(place).copied() else { return };
                if !self.transmit(now, host, base, packet)
                    && let Some(station) = self.station(host)
                {
                    station.count_queue_drop();
                }
            }
            // Its kernel knows the way by now.
            Some(Outwards::Fallback(carried)) => {
                self.outputs.push_back(Output::Packet(now, host, carried.packet));
            }
            Some(Outwards::Held | Outwards::NoLink(_) | Outwards::QueueFull(_) | Outwards::GivenUp(_))
            | None => {}
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
                if !self.transmit(now, base, to, packet)
                    && let Some(machine) = self.base_station(base)
                {
                    machine.count_queue_drop();
                }
            }
            // The base station's kernel forwards it, by the routes as they are by now.
            Some(Inwards::Wire(carried)) => {
                self.outputs.push_back(Output::Packet(now, base, carried.packet));
            }
            Some(Inwards::Kept | Inwards::Lost(_) | Inwards::GivenUp(_)) | None => {}
        }
    }

    /// Hands a packet to a node's radio. Says whether it had room.
    fn transmit(&mut self, now: Instant, from: HostId, to: HostId, packet: Carried<P>) -> bool {
        let (bytes, priority) = (packet.bytes(), packet.priority());
        let payload = self.frames.put(packet) | OF_A_CELL;
        let refused = self.relays.air.send(now, from, Outgoing { to: Some(to), bytes, priority, payload });
        if let Err(refused) = &refused {
            self.frames.take(refused.payload & !OF_A_CELL);
        }
        refused.is_ok()
    }
}
