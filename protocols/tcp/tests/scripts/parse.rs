//! Reads packet scripts. One step per line:
//!
//! ```text
//! # comment
//! config modern nagle=off            profile and changed switches; first line
//! open active                        we send SYN (default: the first `< SYN` opens passively)
//! at 10 ms  < ACK 1:1461 ack 1 win 512 ts 7 1 sack 3000:4000
//! at 10 ms  > ACK 1 ack 1461
//! after 40 ms > ...                  relative to the step before
//!           write 1000 | read 500 | close | abort
//!           nothing                  nothing is sent now
//!           state ESTABLISHED | event Connected | readable 1460 | acked 1000 | count NAME N
//! ```
//!
//! `<` comes from the peer, `>` must come from us, at that time (to the millisecond). Numbers are relative
//! to the initial sequence number of whoever counts with them. In an expected segment flags (PSH aside),
//! sequence number, payload and SACK blocks always count; other fields where they are written, and
//! `-ts`, `-wscale`, `-mss`, `-sackok` demand that an option is absent.
use prismux_tcp::engine::CongestionKind;
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration};
use prismux_wire::{Ecn, TcpFlags};

/// A segment as written: relative numbers, `None` where the script does not care.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Segment {
    pub flags: TcpFlags,
    pub start: u32,
    pub end: u32,
    pub ack: Option<u32>,
    pub window: Option<u16>,
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    pub sack_permitted: bool,
    pub timestamps: Option<(u32, u32)>,
    pub sack: Vec<(u32, u32)>,
    pub ecn: Option<Ecn>,
    pub absent: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    OpenActive,
    Receive(Segment),
    Expect(Segment),
    Write(u64),
    Read(u64),
    Close,
    Abort,
    Nothing,
    State(String),
    Event(String),
    NoEvent(String),
    Readable(u64),
    Acked(u64),
    Count(String, u64),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum When {
    Now,
    At(Duration),
    After(Duration),
}

#[derive(Debug, Clone)]
pub struct Step {
    pub line: usize,
    pub text: String,
    pub when: When,
    pub action: Action,
}

pub struct Script {
    pub config: TcpConfig,
    pub steps: Vec<Step>,
}

pub fn parse(text: &str) -> Result<Script, String> {
    let mut script = Script { config: TcpConfig::modern(), steps: Vec::new() };
    for (index, raw) in text.lines().enumerate() {
        let line = raw.split('#').next().unwrap_or("").trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        let located = |error: String| format!("line {}: {error}\n    {raw}", index + 1);
        match words.as_slice() {
            [] => {}
            ["config", rest @ ..] => script.config = config(rest).map_err(located)?,
            _ => {
                let (when, action) = step(&words).map_err(located)?;
                script.steps.push(Step { line: index + 1, text: line.to_owned(), when, action });
            }
        }
    }
    Ok(script)
}

fn step(words: &[&str]) -> Result<(When, Action), String> {
    let (when, words) = match words {
        ["at", number, unit, rest @ ..] => (When::At(duration(number, unit)?), rest),
        ["after", number, unit, rest @ ..] => (When::After(duration(number, unit)?), rest),
        _ => (When::Now, words),
    };
    let action = match words {
        ["open", "active"] => Action::OpenActive,
        ["<", rest @ ..] => Action::Receive(segment(rest)?),
        [">", rest @ ..] => Action::Expect(segment(rest)?),
        ["write", n] => Action::Write(number(n)?),
        ["read", n] => Action::Read(number(n)?),
        ["close"] => Action::Close,
        ["abort"] => Action::Abort,
        ["nothing"] => Action::Nothing,
        ["state", name] => Action::State((*name).to_owned()),
        ["event", name] => Action::Event((*name).to_owned()),
        ["no-event", name] => Action::NoEvent((*name).to_owned()),
        ["readable", n] => Action::Readable(number(n)?),
        ["acked", n] => Action::Acked(number(n)?),
        ["count", name, n] => Action::Count((*name).to_owned(), number(n)?),
        _ => return Err("unknown step".to_owned()),
    };
    Ok((when, action))
}

fn segment(words: &[&str]) -> Result<Segment, String> {
    let [flags, range, options @ ..] = words else { return Err("a segment needs flags and numbers".into()) };
    let mut segment = Segment { flags: parse_flags(flags)?, ..Segment::default() };
    (segment.start, segment.end) = match range.split_once(':') {
        Some((start, end)) => (number(start)?, number(end)?),
        None => (number(range)?, number(range)?),
    };
    let mut words = options.iter().copied().peekable();
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("{word} needs a value"));
        match word {
            "ack" => segment.ack = Some(number(value()?)?),
            "win" => segment.window = Some(number(value()?)?),
            "mss" => segment.mss = Some(number(value()?)?),
            "wscale" => segment.window_scale = Some(number(value()?)?),
            "sackok" => segment.sack_permitted = true,
            "ts" => segment.timestamps = Some((number(value()?)?, number(value()?)?)),
            "ect0" => segment.ecn = Some(Ecn::Ect0),
            "ce" => segment.ecn = Some(Ecn::Ce),
            "not-ect" => segment.ecn = Some(Ecn::NotEct),
            "sack" => {
                while let Some((start, end)) = words.peek().and_then(|w| w.split_once(':')) {
                    segment.sack.push((number(start)?, number(end)?));
                    words.next();
                }
            }
            _ => match word.strip_prefix('-') {
                Some(option) => segment.absent.push(option.to_owned()),
                None => return Err(format!("unknown word {word:?}")),
            },
        }
    }
    Ok(segment)
}

fn parse_flags(text: &str) -> Result<TcpFlags, String> {
    let mut flags = TcpFlags::default();
    for name in text.split('-') {
        flags |= match name {
            "SYN" => TcpFlags::SYN,
            "ACK" => TcpFlags::ACK,
            "FIN" => TcpFlags::FIN,
            "RST" => TcpFlags::RST,
            "PSH" => TcpFlags::PSH,
            "URG" => TcpFlags::URG,
            "ECE" => TcpFlags::ECE,
            "CWR" => TcpFlags::CWR,
            "NONE" => TcpFlags::default(),
            _ => return Err(format!("unknown flag {name:?}")),
        };
    }
    Ok(flags)
}

fn config(words: &[&str]) -> Result<TcpConfig, String> {
    let [profile, switches @ ..] = words else { return Err("config needs a profile".into()) };
    let mut config = profile.parse::<TcpProfile>().map_err(|e| e.to_string())?.config();
    for switch in switches {
        let (key, value) = switch.split_once('=').ok_or(format!("{switch:?} is not key=value"))?;
        let on = value == "on";
        match key {
            "nagle" => config.nagle = on,
            "sack" => config.sack = on,
            "dsack" => config.dsack = on,
            "timestamps" => config.timestamps = on,
            "window_scaling" => config.window_scaling = on,
            "ecn" => config.ecn = on,
            "tlp" => config.engine.tlp = on,
            "rack" => config.engine.rack = on,
            "consume_on_arrival" => config.consume_on_arrival = on,
            "congestion" => {
                config.engine.congestion =
                    CongestionKind::parse(value).ok_or("no such congestion control")?;
            }
            "delayed_ack" if value == "off" => config.delayed_ack = None,
            "delayed_ack" => config.delayed_ack = Some(short_duration(value)?),
            "quick_ack" => config.quick_ack_segments = number(value)?,
            "mss" => config.mss = number(value)?,
            "receive_buffer" => config.receive_buffer = ByteCount::new(number(value)?),
            "max_ranges" => config.max_out_of_order_ranges = number(value)?,
            "initial_window" => config.engine.initial_window_segments = number(value)?,
            "syn_retries" => config.syn_retries = number(value)?,
            "give_up_after" => config.give_up_after = short_duration(value)?,
            "time_wait" => config.time_wait = short_duration(value)?,
            "keep_alive" => config.keep_alive = Some(keep_alive(value)?),
            _ => return Err(format!("unknown switch {key:?}")),
        }
    }
    Ok(config)
}

/// `idle/interval/probes`, for instance `10s/1s/3`.
fn keep_alive(text: &str) -> Result<prismux_tcp::KeepAlive, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let [idle, interval, probes] = parts.as_slice() else {
        return Err("keep_alive=idle/interval/probes".into());
    };
    Ok(prismux_tcp::KeepAlive {
        idle: short_duration(idle)?,
        interval: short_duration(interval)?,
        probes: number(probes)?,
    })
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{text:?} is not a fitting number"))
}

fn duration(number: &str, unit: &str) -> Result<Duration, String> {
    format!("{number} {unit}").parse().map_err(|e| format!("{e}"))
}

/// `40ms` without the space, for switches.
fn short_duration(text: &str) -> Result<Duration, String> {
    text.parse().map_err(|e| format!("{e}"))
}
