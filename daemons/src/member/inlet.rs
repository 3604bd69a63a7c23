//! What comes from the proxy.
use super::Member;
use crate::device;
use crate::tunnel::socket::{Frame, FrameError, TunnelReceiver};
use crate::tunnel::{control, repairs};
use prismux_linux::clock::Clock;
use prismux_trace::event::DropReason;
use prismux_units::Instant;
use prismux_wire::gre::ether_type;
use prismux_wire::{Ecn, IpPacket};

impl Member {
    /// What comes from the proxy: what `take` takes from its socket.
    pub(super) fn frames<T>(
        &mut self,
        clock: Clock,
        take: impl FnOnce(&mut TunnelReceiver, &mut dyn FnMut(Result<Frame<'_>, FrameError>)) -> T,
    ) -> Option<T> {
        // Taken out for the time being: its frames borrow it while the rest of the member handles them.
        let mut receiver = self.receiver.take()?;
        let taken = take(&mut receiver, &mut |frame| {
            let handled = match frame {
                Ok(frame) => self.frame(clock.now(), &frame),
                Err(error) => Err(error.reason()),
            };
            if let Err(reason) = handled {
                self.drops.count(reason);
            }
        });
        self.receiver = Some(receiver);
        self.session_events(clock.now());
        self.write_receipts(clock.now());
        Some(taken)
    }

    fn frame(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        if !frame.peer.is_same_end(&self.config.tunnel.proxy) {
            return Err(DropReason::UnknownPeer);
        }
        self.came(now, frame);
        match frame.protocol {
            control::PROTOCOL_TYPE => self.control(now, frame),
            ether_type::IPV4 | ether_type::IPV6 => {
                let delivered = self.data(now, frame);
                self.recover(now, frame);
                delivered
            }
            repairs::PROTOCOL_TYPE => {
                self.receipts.repair(now, frame)?;
                self.recover(now, frame);
                Ok(())
            }
            _ => Err(DropReason::OtherProtocol),
        }
    }

    /// Packets that repairs have given back now that `frame` has come.
    fn recover(&mut self, now: Instant, frame: &Frame<'_>) {
        while let Some(packet) = self.receipts.poll_recovered(now) {
            let given_back = packet.frame(frame.peer).map_err(|_| DropReason::MalformedTunnel);
            if let Err(reason) = given_back.and_then(|frame| self.data(now, &frame)) {
                self.drops.count(reason);
            }
        }
    }

    /// A packet for a receiver.
    fn data(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        let ip = IpPacket::parse(frame.inner).map_err(|_| DropReason::MalformedPacket)?;
        let inner = frame.inner.get(..ip.total_bytes).ok_or(DropReason::MalformedPacket)?;
        // A plain tunnel cannot tell who sent this; nobody else in this network, nor this host, is reached through it.
        if !self.is_receiver(ip.header.destination) {
            return Err(DropReason::ForeignDestination);
        }
        self.registration.note_delivery(now);
        if let Some(departure) = &mut self.departure {
            departure.on_data(now);
        }
        if !self.receipts.arrived(now, frame) {
            return Ok(());
        }
        self.traffic.forward_packets += 1;
        self.traffic.forward_bytes += inner.len() as u64;
        if frame.outer_ecn.is_none_or(|outer| outer == ip.header.ecn || outer == Ecn::NotEct) {
            device::write(&self.tun, inner, &mut self.drops);
            return Ok(());
        }
        let mut packet = self.pool.copy_of(inner).ok_or(DropReason::TooLong)?;
        if !device::carry_ecn_over(&mut packet, ip.header.ecn, frame.outer_ecn) {
            return Err(DropReason::CongestionMark);
        }
        device::write(&self.tun, &packet, &mut self.drops);
        Ok(())
    }
}
