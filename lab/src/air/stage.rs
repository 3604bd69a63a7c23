//! What the thread of an air works with: the stations' ports, the clock, and who is told.
use super::AirReport;
use super::carriage::{Carriage, Heard, Output};
use super::ports::{Port, Station};
use super::radios::Sent;
use super::telling::{Teller, Told};
use super::ways::Ways;
use crate::packets::{Label, Labelled};
use crate::timing::{Lateness, RunEnd};
use prismux_daemons::route::air::{FromAir, MAX_MESSAGE_BYTES, MAX_PACKET_BYTES, ToAir, VERSION};
use prismux_daemons::route::radio;
use prismux_linux::clock::Clock;
use prismux_linux::event_loop::{BATCH_PACKETS, EventLoop, Wake};
use prismux_linux::packet::PacketPool;
use prismux_units::Instant;
use prismux_wire::IpPacket;
use prismux_wireless::{HostId, Priority};
use std::io;
use std::net::IpAddr;
use std::sync::mpsc;

/// What the thread works with.
pub(super) struct Stage {
    pub stations: Vec<Station>,
    pub events: EventLoop,
    pub ways: Ways,
    /// Who tells the log of the run, if there is one.
    pub teller: Option<Teller>,
    pub clock: Clock,
    pub end: RunEnd,
    pub counts_energy: bool,
    /// Who waits for the first instant to be over.
    pub begins: Option<mpsc::Sender<()>>,
}

/// Room for what is read and written.
struct Room {
    pool: PacketPool,
    message: Vec<u8>,
    out: Vec<u8>,
}

impl Stage {
    /// The time on the air, which ends with the run.
    fn now(&self) -> Instant {
        self.clock.now().min(self.end.get())
    }

    /// Carries packets until the end of the run, then drops what comes until stopped: devices stay until programs are
    /// done with them.
    ///
    /// # Errors
    /// When a device or a socket cannot be read, or a kernel refuses a route.
    pub fn carry(mut self, mut hosts: impl Carriage<Labelled>) -> io::Result<AirReport> {
        let pool = PacketPool::new(MAX_PACKET_BYTES);
        let mut room = Room { pool, message: vec![0; MAX_MESSAGE_BYTES], out: Vec::new() };
        for (token, station) in self.stations.iter().enumerate() {
            self.events.watch(&station.port, token as u64)?;
        }
        let (mut lateness, mut ready) = (Lateness::default(), Vec::new());
        loop {
            let now = self.now();
            hosts.run_until(now);
            while let Some(output) = hosts.poll_output() {
                self.give(output, &mut lateness, &mut room.out)?;
            }
            if let Some(begins) = self.begins.take() {
                // Whoever does not wait any more need not know.
                let _ = begins.send(());
            }
            if let Some(teller) = self.teller.as_mut().filter(|teller| teller.next() <= now) {
                teller.tell_hosts(now, |now, radios| hosts.look(now, radios), self.counts_energy);
            }
            let tells_at = self.teller.as_ref().map(Teller::next);
            let next = [hosts.next_timeout(), tells_at].into_iter().flatten().min();
            let next = next.filter(|at| *at <= self.end.get());
            if self.events.wait(next, &mut ready)? == Wake::Stop {
                break;
            }
            for &token in &ready {
                let host = HostId(token as u32);
                match self.stations[host.0 as usize].port {
                    Port::Kernel(_) => self.take_packets(host, &room.pool, &mut hosts)?,
                    Port::Daemon(_) => self.take_messages(host, &mut room, &mut hosts)?,
                }
            }
        }
        let end = self.now();
        hosts.run_until(end);
        let counters = |(index, station): (usize, &Station)| {
            let counters = hosts.counters(end, HostId(index as u32), self.counts_energy);
            let named = counters.into_iter().map(|(name, count)| (name.to_owned(), count));
            (station.name.clone(), named.collect())
        };
        let nodes = self.stations.iter().enumerate().map(counters).collect();
        Ok(AirReport { nodes, lateness: lateness.summary() })
    }

    /// What comes of an air goes to those whom it concerns.
    fn give(
        &mut self,
        output: Output<Labelled>,
        lateness: &mut Lateness,
        out: &mut Vec<u8>,
    ) -> io::Result<()> {
        match output {
            Output::Packet(at, host, packet) => {
                self.teller.iter_mut().for_each(|teller| teller.tell_arrived(at, host, &packet));
                if let Port::Kernel(device) = &self.stations[host.0 as usize].port {
                    // A kernel without room for it loses it, as a full socket would.
                    let _ = device.write(&packet.packet);
                }
                lateness.record(self.clock.now() - at);
                Ok(())
            }
            Output::Heard(at, host, heard) => {
                self.teller.iter_mut().for_each(|teller| teller.tell_heard(at, host, &heard));
                let message = match &heard {
                    Heard::Received(from, packet) => FromAir::Received(*from, &packet.packet),
                    Heard::Overheard([from, to], packet) => FromAir::Overheard(*from, *to, &packet.packet),
                    Heard::NotDelivered(whom, packet) => FromAir::NotDelivered(*whom, &packet.packet),
                    Heard::TakenBack(whom, packet) => FromAir::TakenBack(*whom, &packet.packet),
                };
                self.say(host, message, out);
                lateness.record(self.clock.now() - at);
                Ok(())
            }
            Output::Settled(at, station, bases, channel) => self.ways.turn(at, station, bases, channel),
            Output::Behind(at, station, gateways, base) => self.ways.turn_behind(at, station, gateways, base),
            Output::Told(told) => {
                self.teller.iter_mut().for_each(|teller| teller.tell(&told));
                Ok(())
            }
        }
    }

    /// Says something to a host's daemon. One that has let too much lie loses it.
    fn say(&self, host: HostId, message: FromAir<'_>, out: &mut Vec<u8>) {
        if let Port::Daemon(socket) = &self.stations[host.0 as usize].port {
            message.emit(out);
            socket.write(out);
        }
    }

    /// Reads a batch of packets from a host's device.
    fn take_packets(
        &mut self,
        host: HostId,
        pool: &PacketPool,
        hosts: &mut impl Carriage<Labelled>,
    ) -> io::Result<()> {
        let Self { stations, teller, .. } = self;
        let Port::Kernel(device) = &stations[host.0 as usize].port else { return Ok(()) };
        for _ in 0..BATCH_PACKETS {
            let packet = match pool.read_with(|buffer| device.read(buffer)) {
                Ok(packet) => packet,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let now = self.clock.now();
            if now < self.end.get()
                && let Ok(ip) = IpPacket::parse(&packet)
                && let IpAddr::V4(destination) = ip.header.destination
            {
                let tell = |teller: &mut Teller| teller.tell_handed(now, host, &packet);
                let label = teller.as_mut().map_or(Label::default(), tell);
                hosts.send(now, host, destination, Labelled { packet, label });
            }
        }
        Ok(())
    }

    /// Reads a batch of messages from a host's daemon.
    fn take_messages(
        &mut self,
        host: HostId,
        room: &mut Room,
        hosts: &mut impl Carriage<Labelled>,
    ) -> io::Result<()> {
        for _ in 0..BATCH_PACKETS {
            let Port::Daemon(socket) = &self.stations[host.0 as usize].port else { return Ok(()) };
            let Some(message) = socket.read(&mut room.message)? else { return Ok(()) };
            let now = self.clock.now();
            if message.is_empty() {
                self.events.forget(socket)?;
                hosts.switch(now, host, false);
                return Ok(());
            }
            let message = ToAir::parse(message);
            if now >= self.end.get() && !matches!(message, Some(ToAir::Hello(_))) {
                continue;
            }
            match message {
                Some(ToAir::Send { priority, to, counted_bytes: bytes, packet }) => {
                    let tell = |teller: &mut Teller| teller.tell_handed(now, host, packet);
                    let label = self.teller.as_mut().map_or(Label::default(), tell);
                    if let Some(packet) = room.pool.copy_of(packet) {
                        let (frame, priority) = (Labelled { packet, label }, priority_of(priority));
                        hosts.transmit(now, host, to, Sent { frame, bytes, priority });
                    }
                }
                Some(ToAir::Taken(packet)) => {
                    self.teller.iter_mut().for_each(|teller| teller.tell_taken(now, host, packet));
                }
                Some(ToAir::Dropped(reason, packet)) => {
                    if let (Some(teller), Some(copy)) = (&mut self.teller, room.pool.copy_of(packet)) {
                        let label = teller.tell_handed(now, host, packet);
                        teller.tell(&Told::Dropped(now, host, reason, Labelled { packet: copy, label }));
                    }
                }
                Some(ToAir::Hello(VERSION)) => {
                    hosts.switch(now, host, true);
                    let ready = FromAir::Ready { version: VERSION, keeps_log: self.teller.is_some() };
                    self.say(host, ready, &mut room.out);
                }
                Some(ToAir::Bye) => hosts.switch(now, host, false),
                // A daemon of another version ends when it hears nothing of the air.
                Some(ToAir::Hello(_)) | None => {}
            }
        }
        Ok(())
    }
}

/// Where a daemon's packet stands in the interface queue.
const fn priority_of(priority: radio::Priority) -> Priority {
    match priority {
        radio::Priority::Routing => Priority::Routing,
        radio::Priority::Acknowledgement => Priority::Acknowledgement,
        radio::Priority::Normal => Priority::Normal,
    }
}
