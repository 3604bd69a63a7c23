//! Plays a script against a connection.
use crate::parse::{Action, Script, Segment, Step, When};
use prismux_endpoint::Endpoint;
use prismux_tcp::{Connection, SegmentIn, SegmentOut, TcpConfig, TcpEvent};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, SackBlock, SeqNumber, TcpFlags, TcpHeader, Timestamps};
use std::collections::VecDeque;
use std::sync::Arc;

/// Close to the wrap, so that every longer script crosses it.
const OUR_INITIAL: SeqNumber = SeqNumber(u32::MAX - 2000);
const PEER_INITIAL: SeqNumber = SeqNumber(u32::MAX - 5000);
const OUR_PORT: u16 = 80;
const PEER_PORT: u16 = 40_000;
/// How far from its time an expected segment may be.
const TOLERANCE: Duration = Duration::from_millis(1);

struct Player {
    config: Arc<TcpConfig>,
    connection: Option<Connection>,
    now: Instant,
    sent: VecDeque<(Instant, SegmentOut)>,
    events: VecDeque<TcpEvent>,
    edge: u64,
}

pub fn run(script: &Script) -> Result<(), String> {
    let mut player = Player {
        config: Arc::new(script.config.clone()),
        connection: None,
        now: Instant::ZERO,
        sent: VecDeque::new(),
        events: VecDeque::new(),
        edge: 0,
    };
    for step in &script.steps {
        player.play(step).map_err(|error| format!("line {}: {error}\n    {}", step.line, step.text))?;
    }
    match player.sent.front() {
        Some((at, segment)) => Err(format!("at the end: unexpected at {at}: {}", show(segment))),
        None => Ok(()),
    }
}

impl Player {
    fn play(&mut self, step: &Step) -> Result<(), String> {
        let target = match step.when {
            When::Now => self.now,
            When::At(time) => Instant::ZERO + time,
            When::After(time) => self.now + time,
        };
        if let Action::Expect(expected) = &step.action {
            return self.expect(target, expected);
        }
        let waits_for_input = !matches!(
            step.action,
            Action::State(_)
                | Action::Event(_)
                | Action::NoEvent(_)
                | Action::Readable(_)
                | Action::Acked(_)
                | Action::Count(..)
        );
        self.advance(target, false);
        self.now = target;
        if waits_for_input && let Some((at, segment)) = self.sent.front() {
            return Err(format!("unexpected at {at}: {}", show(segment)));
        }
        self.act(&step.action)
    }

    fn act(&mut self, action: &Action) -> Result<(), String> {
        let now = self.now;
        match action {
            Action::OpenActive => {
                let config = Arc::clone(&self.config);
                self.connection = Some(Connection::connect(config, OUR_PORT, PEER_PORT, OUR_INITIAL, now));
                self.drain();
            }
            Action::Receive(segment) => self.receive(segment),
            Action::Write(bytes) => self.command(|c| c.write(now, *bytes))?,
            Action::Read(bytes) => self.command(|c| c.read(now, *bytes))?,
            Action::Close => self.command(|c| c.close(now))?,
            Action::Abort => self.command(|c| c.abort(now))?,
            Action::Nothing | Action::Expect(_) => {}
            Action::State(name) => same("state", self.open()?.state().name(), name.as_str())?,
            Action::Event(name) => self.take_event(name)?,
            Action::NoEvent(name) => {
                let found = self.events.iter().any(|event| format!("{event:?}").starts_with(name.as_str()));
                same("event present", found, false)?;
            }
            Action::Readable(bytes) => same("readable", self.open()?.bytes_readable(), *bytes)?,
            Action::Acked(bytes) => same("acked", self.open()?.stream_acked(), *bytes)?,
            Action::Count(name, value) => same(name, self.counter(name)?, *value)?,
        }
        Ok(())
    }

    fn open(&self) -> Result<&Connection, String> {
        self.connection.as_ref().ok_or_else(|| "no connection yet".to_owned())
    }

    fn command(&mut self, command: impl FnOnce(&mut Connection)) -> Result<(), String> {
        command(self.connection.as_mut().ok_or("no connection yet")?);
        self.drain();
        Ok(())
    }

    fn drain(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        while let Some(segment) = connection.poll_transmit(self.now) {
            self.sent.push_back((self.now, segment));
        }
        while let Some(event) = connection.poll_event() {
            self.events.push_back(event);
        }
        let edge = connection.receive_window_edge();
        assert!(edge >= self.edge, "the right edge of the window moved left: {} to {edge}", self.edge);
        self.edge = edge;
    }

    /// Fires timers up to `target`; stops at the first that makes us send, if asked.
    fn advance(&mut self, target: Instant, until_sent: bool) {
        while !until_sent || self.sent.is_empty() {
            let Some(connection) = &mut self.connection else { return };
            let Some(deadline) = connection.poll_timeout().filter(|d| d.at <= target) else { return };
            self.now = self.now.max(deadline.at);
            connection.handle_timeout(self.now);
            self.drain();
        }
    }

    fn expect(&mut self, target: Instant, expected: &Segment) -> Result<(), String> {
        self.advance(target + TOLERANCE, true);
        let Some((at, segment)) = self.sent.pop_front() else {
            let next = self.connection.as_ref().and_then(|c| c.poll_timeout());
            return Err(format!("nothing was sent; next deadline {next:?}"));
        };
        if at + TOLERANCE < target {
            return Err(format!("sent too early, at {at}: {}", show(&segment)));
        }
        self.now = self.now.max(at);
        compare(&segment, expected).map_err(|error| format!("{error}; sent {}", show(&segment)))
    }

    fn receive(&mut self, segment: &Segment) {
        let input = SegmentIn {
            header: header_of(segment),
            payload_bytes: segment.end - segment.start,
            ecn: segment.ecn.unwrap_or_default(),
        };
        match &mut self.connection {
            Some(connection) => connection.handle_input(self.now, input),
            None => {
                let config = Arc::clone(&self.config);
                self.connection = Some(Connection::accept(config, &input.header, OUR_INITIAL, self.now));
            }
        }
        self.drain();
    }

    fn take_event(&mut self, name: &str) -> Result<(), String> {
        let position = self.events.iter().position(|event| format!("{event:?}").starts_with(name));
        let position = position.ok_or_else(|| format!("no event {name}; pending {:?}", self.events))?;
        self.events.drain(..=position);
        Ok(())
    }

    fn counter(&self, name: &str) -> Result<u64, String> {
        let metrics = self.open()?.metrics();
        Ok(match name {
            "challenge_acks" => metrics.challenge_acks_sent,
            "old_timestamp" => metrics.drops.old_timestamp,
            "missing_timestamp" => metrics.drops.missing_timestamp,
            "out_of_window" => metrics.drops.out_of_window,
            "bad_ack" => metrics.drops.bad_ack,
            "unproven" => metrics.drops.unproven,
            "malformed" => metrics.drops.malformed,
            "store_full" => metrics.drops.store_full,
            "duplicate_bytes" => metrics.duplicate_bytes_received,
            "out_of_order" => metrics.out_of_order_segments,
            "probes" => metrics.probes_sent,
            "retransmitted" => metrics.engine.counters.retransmitted_segments,
            "timeouts" => metrics.engine.counters.timeouts,
            "spurious" => metrics.engine.counters.spurious_retransmissions,
            "ecn_reductions" => metrics.engine.counters.ecn_reductions,
            _ => return Err(format!("unknown counter {name:?}")),
        })
    }
}

fn header_of(segment: &Segment) -> TcpHeader {
    let mut header = TcpHeader {
        source_port: PEER_PORT,
        destination_port: OUR_PORT,
        seq: PEER_INITIAL + segment.start,
        ack: segment.ack.map_or(SeqNumber(0), |ack| OUR_INITIAL + ack),
        flags: segment.flags,
        window: segment.window.unwrap_or(u16::MAX),
        ..TcpHeader::default()
    };
    header.options.mss = segment.mss;
    header.options.window_scale = segment.window_scale;
    header.options.sack_permitted = segment.sack_permitted;
    header.options.timestamps = segment.timestamps.map(|(value, echo)| Timestamps { value, echo });
    for &(start, end) in &segment.sack {
        header.options.sack.push(SackBlock { start: OUR_INITIAL + start, end: OUR_INITIAL + end });
    }
    header
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what} is {found:?}, expected {expected:?}")) }
}

fn compare(segment: &SegmentOut, expected: &Segment) -> Result<(), String> {
    let header = &segment.header;
    let relative = header.seq - OUR_INITIAL.0;
    let ignored = if expected.flags.contains(TcpFlags::PSH) { TcpFlags::default() } else { TcpFlags::PSH };
    same("flags", header.flags.without(ignored), expected.flags)?;
    same("sequence number", relative.0, expected.start)?;
    same("payload", segment.payload_bytes, expected.end - expected.start)?;
    if segment.payload_bytes > 0 {
        same("stream offset", segment.stream_offset, u64::from(relative.0) - 1)?;
    }
    if let Some(ack) = expected.ack {
        same("ack flag", header.flags.contains(TcpFlags::ACK), true)?;
        same("ack", (header.ack - PEER_INITIAL.0).0, ack)?;
    }
    if let Some(window) = expected.window {
        same("window", header.window, window)?;
    }
    let blocks = header.options.sack.as_slice();
    let blocks: Vec<(u32, u32)> =
        blocks.iter().map(|b| ((b.start - PEER_INITIAL.0).0, (b.end - PEER_INITIAL.0).0)).collect();
    same("sack", &blocks, &expected.sack)?;
    compare_options(segment, expected)
}

fn compare_options(segment: &SegmentOut, expected: &Segment) -> Result<(), String> {
    let options = &segment.header.options;
    if let Some(ecn) = expected.ecn {
        same::<Ecn>("ecn", segment.ecn, ecn)?;
    }
    if expected.mss.is_some() {
        same("mss", options.mss, expected.mss)?;
    }
    if expected.window_scale.is_some() {
        same("window scale", options.window_scale, expected.window_scale)?;
    }
    if expected.sack_permitted {
        same("sack permitted", options.sack_permitted, true)?;
    }
    if let Some((value, echo)) = expected.timestamps {
        same("timestamps", options.timestamps, Some(Timestamps { value, echo }))?;
    }
    for option in &expected.absent {
        let present = match option.as_str() {
            "mss" => options.mss.is_some(),
            "wscale" => options.window_scale.is_some(),
            "sackok" => options.sack_permitted,
            "ts" => options.timestamps.is_some(),
            _ => return Err(format!("unknown option {option:?}")),
        };
        same(option, present, false)?;
    }
    same("options fit", options.fits(), true)
}

fn show(segment: &SegmentOut) -> String {
    let header = &segment.header;
    let seq = (header.seq - OUR_INITIAL.0).0;
    let mut text = format!("{:?} {seq}:{}", header.flags, seq + segment.payload_bytes);
    if header.flags.contains(TcpFlags::ACK) {
        text += &format!(" ack {}", (header.ack - PEER_INITIAL.0).0);
    }
    text += &format!(" win {}", header.window);
    if let Some(Timestamps { value, echo }) = header.options.timestamps {
        text += &format!(" ts {value} {echo}");
    }
    for block in header.options.sack.as_slice() {
        text += &format!(" sack {}:{}", (block.start - PEER_INITIAL.0).0, (block.end - PEER_INITIAL.0).0);
    }
    text + &format!(" {:?} {:?}", segment.ecn, header.options)
}
