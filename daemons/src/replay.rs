//! A recorded proxy, repeated: every packet, member and timer goes through the protocol core once more, and every
//! decision is compared with the one on record.
//!
//! The core is driven as the simulator drives it: packets are typed headers, decisions change those headers, and time
//! is what the recording says. So a recording of a lab run or of a proxy in the field shows that both hosts of the
//! core come to the same decisions, down to the bytes of each rewritten ACK; and where they do not, at which packet.
mod compare;
#[cfg(test)]
mod tests;

use crate::config::prism_settings_from_toml;
use crate::proxy::recorder::{CORE, CoreInput, DROPPED, EVENTS, SENDER};
use compare::{Input, Recorded, Typed};
use prismux_endpoint::Endpoint;
use prismux_prism::{LinkConfig, LinkId, Proxy, Verdict};
use prismux_trace::pcapng::{self, Capture, Direction, NotACapture, Packet};
use prismux_units::{Duration, Rate};
use prismux_wire::{IpPacket, TcpPacket, flow_hash};
use std::collections::VecDeque;
use std::fmt;

/// What a replay found.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Replay {
    /// Packets from senders.
    pub data_packets: u64,
    /// Packets from members.
    pub reverse_packets: u64,
    /// Members that came or went.
    pub changes: u64,
    /// Timers.
    pub timeouts: u64,
    /// Packets sent to members, and so decided again.
    pub forwarded: u64,
    /// Packets sent to senders, and so decided again.
    pub released: u64,
    /// Of those, packets that were changed on the way.
    pub rewritten: u64,
    /// Packets dropped, and so decided again.
    pub dropped: u64,
    /// Bytes at the end that are no whole entry and were left out: power was lost, or the disk was full.
    pub cut_bytes: usize,
    /// Decisions about the last packet that are not on record: whoever wrote them was stopped before.
    pub unrecorded: usize,
    /// What differed: the first few.
    pub differences: Vec<String>,
}

impl Replay {
    /// Decisions compared.
    pub fn decisions(&self) -> u64 {
        self.forwarded + self.released + self.dropped
    }
}

/// Differences told in full; the replay goes no further, because after the first everything may differ.
const MAX_DIFFERENCES: usize = 5;

/// Why a file cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayError {
    /// It is no capture at all.
    NotACapture(NotACapture),
    /// It is a capture, but not a proxy's recording.
    NotARecording(String),
}

impl fmt::Display for ReplayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotACapture(error) => error.fmt(f),
            Self::NotARecording(what) => write!(f, "not a recording of a proxy: {what}"),
        }
    }
}

impl std::error::Error for ReplayError {}

/// Repeats a recording (the bytes of the file that a proxy's `record` setting names).
///
/// # Errors
/// When the bytes are no recording. Decisions that differ are no error but part of the answer.
pub fn replay(file: &[u8]) -> Result<Replay, ReplayError> {
    let capture = pcapng::read(file).map_err(ReplayError::NotACapture)?;
    let mut packets = capture.packets.iter();
    let first = packets.next().map(|packet| core_input(&capture, packet)).transpose()?.flatten();
    let Some(CoreInput::Start { settings, .. }) = first else {
        return Err(ReplayError::NotARecording(format!(
            "it does not begin with the settings, on an interface \"{CORE}\""
        )));
    };
    let config = prism_settings_from_toml(&settings)
        .map_err(|error| ReplayError::NotARecording(format!("its settings: {error}")))?;
    // The host clamps, by address family.
    let config = prismux_prism::ProxyConfig { mss_clamp: None, ..config };
    let mut machine = Machine {
        core: Proxy::new(config),
        expected: VecDeque::new(),
        replay: Replay { cut_bytes: capture.cut_bytes, ..Replay::default() },
        inputs: Vec::new(),
    };
    for packet in packets {
        if machine.replay.differences.len() >= MAX_DIFFERENCES {
            break;
        }
        machine.step(&capture, packet)?;
    }
    machine.replay.unrecorded = machine.expected.len();
    Ok(machine.replay)
}

/// What an empty packet of the interface [`CORE`] says; `None` for packets of other interfaces.
fn core_input(capture: &Capture, packet: &Packet) -> Result<Option<CoreInput>, ReplayError> {
    if interface_of(capture, packet) != CORE {
        return Ok(None);
    }
    let read = serde_json::from_str(&packet.comment);
    read.map(Some).map_err(|error| ReplayError::NotARecording(format!("\"{}\": {error}", packet.comment)))
}

/// Name of the interface of a packet.
fn interface_of<'a>(capture: &'a Capture, packet: &Packet) -> &'a str {
    capture.interfaces.get(packet.interface).map_or("", |interface| &interface.name)
}

/// The core under replay.
struct Machine {
    core: Proxy<Typed>,
    /// Decisions that the recording must show next.
    expected: VecDeque<Verdict<Typed>>,
    replay: Replay,
    /// Every packet that went in, by [`Typed::number`].
    inputs: Vec<Input>,
}

impl Machine {
    /// The next entry of the recording: something that goes in, or a decision that came out.
    fn step(&mut self, capture: &Capture, packet: &Packet) -> Result<(), ReplayError> {
        if let Some(input) = core_input(capture, packet)? {
            self.leftovers();
            return self.repeat(packet, &input);
        }
        let name = interface_of(capture, packet);
        if name == EVENTS {
            return Ok(());
        }
        if packet.direction == Some(Direction::Inbound) {
            self.leftovers();
            return self.feed(packet, name == SENDER);
        }
        let recorded = match name {
            SENDER => Recorded::Release,
            DROPPED => Recorded::Drop { reason: &packet.comment },
            link => Recorded::Forward { link },
        };
        let decided = self.expected.pop_front();
        match compare::compare(&recorded, packet, decided.as_ref(), &self.inputs) {
            Ok(changed) => match recorded {
                Recorded::Forward { .. } => self.replay.forwarded += 1,
                Recorded::Drop { .. } => self.replay.dropped += 1,
                Recorded::Release => {
                    self.replay.released += 1;
                    self.replay.rewritten += u64::from(changed);
                }
            },
            Err(difference) => self.differs(&format!("at {}: {difference}", packet.at)),
        }
        Ok(())
    }

    fn repeat(&mut self, packet: &Packet, input: &CoreInput) -> Result<(), ReplayError> {
        match input {
            CoreInput::Start { .. } => {
                return Err(ReplayError::NotARecording("it begins twice".to_owned()));
            }
            CoreInput::Join { link, name, advertised_rate_bps, round_trip_ns } => {
                self.replay.changes += 1;
                let advertised_rate = advertised_rate_bps.map(Rate::from_bps);
                let round_trip = round_trip_ns.map(Duration::from_nanos);
                let config = LinkConfig { name: name.clone(), advertised_rate, round_trip };
                self.core.join(packet.at, LinkId(*link), config);
            }
            CoreInput::Leave { link } => {
                self.replay.changes += 1;
                self.core.leave(packet.at, LinkId(*link));
            }
            CoreInput::Measured { .. } | CoreInput::Lost { .. } => {
                self.replay.changes += 1;
                if let Some(told) = input.of_receipts() {
                    self.core.handle_input(packet.at, told);
                }
            }
            CoreInput::Timeout => {
                self.replay.timeouts += 1;
                self.core.handle_timeout(packet.at);
            }
        }
        self.drain();
        Ok(())
    }

    /// A packet goes in, as a typed header.
    fn feed(&mut self, packet: &Packet, from_sender: bool) -> Result<(), ReplayError> {
        let unreadable = |what: &dyn fmt::Display| {
            ReplayError::NotARecording(format!("the packet at {} cannot be read: {what}", packet.at))
        };
        let input = Input::of(packet);
        let whole = input.whole();
        let ip = IpPacket::parse(&whole).map_err(|error| unreadable(&error))?;
        let tcp = TcpPacket::from_ip(ip, &whole);
        let typed = Typed { number: self.inputs.len(), header: tcp.ok().map(|tcp| tcp.header) };
        self.inputs.push(input);
        match (tcp, from_sender) {
            (Ok(tcp), true) => {
                self.replay.data_packets += 1;
                let payload_bytes = tcp.payload_bytes();
                self.core.handle_data(packet.at, tcp.flow(), &tcp.header, payload_bytes, typed);
            }
            (Ok(tcp), false) => {
                self.replay.reverse_packets += 1;
                let data_flow = tcp.flow().reversed();
                self.core.handle_reverse(packet.at, data_flow, &tcp.header, tcp.payload_bytes(), typed);
            }
            (Err(_), true) => {
                self.replay.data_packets += 1;
                self.core.handle_opaque(flow_hash(&ip, &whole), typed);
            }
            (Err(error), false) => return Err(unreadable(&error)),
        }
        self.drain();
        Ok(())
    }

    fn drain(&mut self) {
        while let Some(verdict) = self.core.poll_verdict() {
            self.expected.push_back(verdict);
        }
    }

    /// Decisions that the recording does not show.
    fn leftovers(&mut self) {
        while let Some(verdict) = self.expected.pop_front() {
            self.differs(&format!("decided in the replay only: {}", compare::describe(Some(&verdict))));
        }
    }

    fn differs(&mut self, what: &str) {
        if self.replay.differences.len() < MAX_DIFFERENCES {
            self.replay.differences.push(what.to_owned());
        }
    }
}
