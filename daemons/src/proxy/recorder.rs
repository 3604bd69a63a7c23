//! What the core is told and what it decides, written to a capture that Wireshark opens and [`crate::replay`] repeats.
//!
//! * Interface "sender": what comes from senders (inbound) and goes to them (outbound, rewritten).
//! * One interface for each link: what goes to the member (outbound) and comes from it (inbound), without the tunnel.
//! * Interface "dropped": packets that the core drops; the reason is the comment.
//! * Interface "core": empty packets whose comments are a [`CoreInput`] each: settings, members, timers.
//! * Interface "events": empty packets whose comments are the proxy's events, as in event logs.
//!
//! Packets are recorded as the core sees them: the MSS of SYNs lowered, congestion marks carried over. Order in the
//! file is the order of events. Of data packets the first [`SNAP_BYTES`] are kept: all headers, little of anybody's
//! data.
use prismux_prism::{LinkId, ProxyInput};
use prismux_receipts::LinkEstimate;
use prismux_trace::event::Event;
use prismux_trace::pcapng::{CapturedPacket, Direction, InterfaceId, PcapNg};
use prismux_units::{Duration, Instant, Rate};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Bytes kept of each packet: any IP and TCP header with options.
pub const SNAP_BYTES: usize = 160;

/// Name of the interface towards senders.
pub const SENDER: &str = "sender";
/// Name of the interface of dropped packets.
pub const DROPPED: &str = "dropped";
/// Name of the interface of what the core is told beside packets.
pub const CORE: &str = "core";
/// Name of the interface of events.
pub const EVENTS: &str = "events";

/// What the core is told beside packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CoreInput {
    /// The beginning.
    Start {
        /// Of prismux.
        version: String,
        /// The `[prism]` table of a proxy's configuration file, in full.
        settings: String,
        /// Bytes that the tunnel adds to a packet.
        overhead_bytes: u32,
    },
    /// A member offers its link; from here on there is an interface "link N".
    Join {
        /// Number of the link.
        link: u8,
        /// The member's name.
        name: String,
        /// The rate it states.
        advertised_rate_bps: Option<u64>,
        /// Round trip to the member, nanoseconds, if it was measured.
        #[serde(default)]
        round_trip_ns: Option<u64>,
    },
    /// A member goes.
    Leave {
        /// Number of its link.
        link: u8,
    },
    /// A deadline of the core has come.
    Timeout,
    /// A link, as receipts show it.
    Measured {
        /// Number of the link.
        link: u8,
        /// Bytes that its tunnel adds to a packet.
        tunnel_bytes: u32,
        /// What it carries.
        capacity_bps: Option<u64>,
        /// What came of late.
        delivery_rate_bps: Option<u64>,
        /// How fast that was sent.
        offered_rate_bps: Option<u64>,
        /// How many intervals have been measured.
        intervals: u64,
        /// What came since its queue was last empty.
        busy_rate_bps: Option<u64>,
        /// The same, known earlier, if it was sent faster.
        burst_rate_bps: Option<u64>,
        /// Its queue was never empty of late.
        is_busy: bool,
        /// That queue.
        queueing_delay_ns: Option<u64>,
        /// Most packets come within this after the quickest around them.
        jitter_p95_ns: Option<u64>,
        /// The shortest round trip.
        min_rtt_ns: Option<u64>,
    },
    /// A packet did not come out of its link, as receipts show.
    Lost {
        /// Number of the link.
        link: u8,
        /// What the core called the packet.
        position: u32,
    },
}

impl CoreInput {
    /// What the core is told of a link.
    pub fn measured(link: LinkId, tunnel_bytes: u32, estimate: &LinkEstimate) -> Self {
        let bps = |rate: Option<Rate>| rate.map(Rate::as_bps);
        let ns = |time: Option<Duration>| time.map(Duration::as_nanos);
        Self::Measured {
            link: link.0,
            tunnel_bytes,
            capacity_bps: bps(estimate.capacity),
            delivery_rate_bps: bps(estimate.delivery_rate),
            offered_rate_bps: bps(estimate.offered_rate),
            intervals: estimate.intervals,
            busy_rate_bps: bps(estimate.busy_rate),
            burst_rate_bps: bps(estimate.burst_rate),
            is_busy: estimate.is_busy,
            queueing_delay_ns: ns(estimate.queueing_delay),
            jitter_p95_ns: ns(estimate.jitter_p95),
            min_rtt_ns: ns(estimate.min_rtt),
        }
    }

    /// The same as the core takes it; `None` for what is not about receipts.
    pub fn of_receipts<P>(&self) -> Option<ProxyInput<P>> {
        match *self {
            Self::Measured {
                link,
                tunnel_bytes,
                capacity_bps,
                delivery_rate_bps,
                offered_rate_bps,
                intervals,
                busy_rate_bps,
                burst_rate_bps,
                is_busy,
                queueing_delay_ns,
                jitter_p95_ns,
                min_rtt_ns,
            } => {
                let estimate = LinkEstimate {
                    capacity: capacity_bps.map(Rate::from_bps),
                    delivery_rate: delivery_rate_bps.map(Rate::from_bps),
                    offered_rate: offered_rate_bps.map(Rate::from_bps),
                    intervals,
                    busy_rate: busy_rate_bps.map(Rate::from_bps),
                    burst_rate: burst_rate_bps.map(Rate::from_bps),
                    is_busy,
                    queueing_delay: queueing_delay_ns.map(Duration::from_nanos),
                    jitter_p95: jitter_p95_ns.map(Duration::from_nanos),
                    min_rtt: min_rtt_ns.map(Duration::from_nanos),
                    ..LinkEstimate::default()
                };
                Some(ProxyInput::Measured { link: LinkId(link), estimate, tunnel_bytes })
            }
            Self::Lost { link, position } => Some(ProxyInput::Lost { link: LinkId(link), position }),
            _ => None,
        }
    }
}

/// Name of a link's interface.
pub fn interface_name(link: LinkId) -> String {
    format!("link {}", link.0)
}

/// More than is recorded in one turn, after which all is written at once: a process that is killed between two writes
/// leaves whole blocks behind.
const TURN_BYTES: usize = 1 << 20;

/// A recording under way.
pub struct Recorder {
    capture: PcapNg<BufWriter<File>>,
    core: InterfaceId,
    events: InterfaceId,
    sender: InterfaceId,
    dropped: InterfaceId,
    links: Vec<Option<InterfaceId>>,
}

impl Recorder {
    /// Starts a recording. A file that exists is kept: the new one gets a number behind its name.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path, settings: String, overhead_bytes: u32) -> io::Result<Self> {
        let mut capture = PcapNg::new(BufWriter::with_capacity(TURN_BYTES, create_beside(path)?))?;
        let core = capture.add_interface(CORE, "what the core is told beside packets")?;
        let sender = capture.add_interface(SENDER, "from and to senders")?;
        let dropped = capture.add_interface(DROPPED, "dropped by the core")?;
        let events = capture.add_interface(EVENTS, "what the proxy tells")?;
        let mut recorder = Self { capture, core, events, sender, dropped, links: Vec::new() };
        let version = env!("CARGO_PKG_VERSION").to_owned();
        recorder.core_input(Instant::ZERO, &CoreInput::Start { version, settings, overhead_bytes })?;
        Ok(recorder)
    }

    /// The core is told something other than a packet.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn core_input(&mut self, now: Instant, input: &CoreInput) -> io::Result<()> {
        if let CoreInput::Join { link, name, .. } = input {
            self.add_link(LinkId(*link), name)?;
        }
        let comment = serde_json::to_string(input)?;
        self.put(self.core, now, &[], Direction::Inbound, &comment)
    }

    /// An event.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn event(&mut self, now: Instant, event: &Event<'_>) -> io::Result<()> {
        let comment = serde_json::to_string(event)?;
        self.put(self.events, now, &[], Direction::Outbound, &comment)
    }

    /// A packet from a sender.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn from_sender(&mut self, now: Instant, packet: &[u8]) -> io::Result<()> {
        self.put(self.sender, now, packet, Direction::Inbound, "")
    }

    /// A packet to a sender.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn to_sender(&mut self, now: Instant, packet: &[u8]) -> io::Result<()> {
        self.put(self.sender, now, packet, Direction::Outbound, "")
    }

    /// A packet from a member.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn from_member(&mut self, now: Instant, link: LinkId, packet: &[u8]) -> io::Result<()> {
        self.on_link(now, link, packet, Direction::Inbound)
    }

    /// A packet to a member.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn to_member(&mut self, now: Instant, link: LinkId, packet: &[u8]) -> io::Result<()> {
        self.on_link(now, link, packet, Direction::Outbound)
    }

    /// A packet that the core drops.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn dropped(&mut self, now: Instant, packet: &[u8], reason: &str) -> io::Result<()> {
        self.put(self.dropped, now, packet, Direction::Outbound, reason)
    }

    /// Writes out what is buffered, so that the file is whole should the process be killed.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.capture.flush()
    }

    fn add_link(&mut self, link: LinkId, member: &str) -> io::Result<()> {
        let index = usize::from(link.0);
        if self.links.len() <= index {
            self.links.resize(index + 1, None);
        }
        if let Some(interface @ None) = self.links.get_mut(index) {
            *interface = Some(self.capture.add_interface(&interface_name(link), member)?);
        }
        Ok(())
    }

    fn on_link(&mut self, now: Instant, link: LinkId, packet: &[u8], direction: Direction) -> io::Result<()> {
        match self.links.get(usize::from(link.0)).copied().flatten() {
            Some(interface) => self.put(interface, now, packet, direction, ""),
            None => Ok(()),
        }
    }

    fn put(
        &mut self,
        interface: InterfaceId,
        at: Instant,
        packet: &[u8],
        direction: Direction,
        comment: &str,
    ) -> io::Result<()> {
        self.capture.packet(&CapturedPacket {
            interface,
            at,
            bytes: packet.get(..SNAP_BYTES).unwrap_or(packet),
            original_bytes: packet.len() as u32,
            direction: Some(direction),
            comment,
        })
    }
}

/// Creates `path`, or where that exists "NAME-2.EXT", "NAME-3.EXT", ...
fn create_beside(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    // It holds the first bytes of what people say.
    options.write(true).create_new(true).mode(0o600);
    for number in 1..1000 {
        match options.open(numbered(path, number)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            outcome => return outcome,
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The name of recording `number` where `path` is that of the first.
pub fn numbered(path: &Path, number: u32) -> PathBuf {
    if number <= 1 {
        return path.to_owned();
    }
    let text = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let name = match text(path.extension()) {
        none if none.is_empty() => format!("{}-{number}", text(path.file_stem())),
        extension => format!("{}-{number}.{extension}", text(path.file_stem())),
    };
    path.with_file_name(name)
}
