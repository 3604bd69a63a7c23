//! Frame sequences as text: one file for one rule. `README.md` says how to read them.
mod common;

use common::{assert_conserved, named};
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant, Rate};
use prismux_wireless::{
    AccessRules, AddressResolution, Aggregation, Air, AirConfig, AirEvent, ArfConfig, Coordination, Frame,
    FrameKind, HostId, MacConfig, Mobility, Outgoing, PollingConfig, Position, Priority, RadioConfig,
    RateControl, Reception, Role,
};
use std::fs;
use std::path::Path;

/// A script, read.
struct Script {
    mac: MacConfig,
    radio: RadioConfig,
    hosts: Vec<(String, Position)>,
    /// Which hosts have roles of their own.
    roles: Vec<(u32, Role)>,
    sends: Vec<(Instant, u32, Outgoing<u64>)>,
    expected: Vec<(usize, Expected)>,
}

enum Expected {
    /// A frame: the gap before it, its sender, kind and receiver, and its rate if that matters.
    Frame { gap: Gap, from: u32, kind: Kind, to: Option<u32>, rate: Option<Rate> },
    /// A counter of a host at the end.
    Counter { host: u32, name: String, value: u64 },
    /// No further frame.
    Silence,
}

/// A kind of frame, whether it polls, whether it acknowledges what came before it, whether it resolves addresses.
type Kind = (FrameKind, bool, bool, bool);

/// The idle time before a frame.
#[derive(Debug, Clone, Copy)]
enum Gap {
    At(Duration),
    Exactly(Duration),
    /// A space and whole slots.
    BackOff(Duration),
    /// Not looked at: the frame overlaps others.
    Any,
}

/// Frames that begin within this time of one another have no order that anybody could see.
const TOLERANCE: Duration = Duration::from_micros(3);
const END: Instant = Instant::from_secs(10);

#[test]
fn every_script_plays() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/cases");
    let (mut count, mut failures) = (0, String::new());
    for group in fs::read_dir(&folder).expect("the scripts").map(|entry| entry.expect("a folder").path()) {
        for file in fs::read_dir(&group).expect("a folder").map(|entry| entry.expect("a script").path()) {
            let text = fs::read_to_string(&file).expect("readable");
            if let Err(message) = play(&text) {
                failures += &format!("{}: {message}\n", file.display());
            }
            count += 1;
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(count >= 12, "{count} scripts");
}

fn play(text: &str) -> Result<(), String> {
    let script = read(text)?;
    let config = AirConfig { reports_frames: true, ..AirConfig::new(script.radio, script.mac) };
    let mut hosts = named(script.hosts.iter().map(|(_, place)| Mobility::Static(*place)).collect());
    for (host, (name, _)) in hosts.iter_mut().zip(&script.hosts) {
        host.name.clone_from(name);
    }
    for (host, role) in &script.roles {
        hosts[*host as usize].role = role.clone();
    }
    let mut air: Air<u64> = Air::new(&config, hosts, Seed(1)).map_err(|e| e.to_string())?;
    let frames = frames_of(&mut air, &script.sends);
    assert_conserved(&air, END, script.hosts.len());
    compare(&script, &air, &frames)
}

/// Sends what the script sends, and collects all frames.
fn frames_of(air: &mut Air<u64>, sends: &[(Instant, u32, Outgoing<u64>)]) -> Vec<(Instant, Frame<u64>)> {
    let (mut frames, mut sends) = (Vec::new(), sends.iter().peekable());
    loop {
        let next_send = sends.peek().map_or(Instant::MAX, |(at, _, _)| *at);
        let now = air.next_timeout().unwrap_or(Instant::MAX).min(next_send);
        if now > END {
            return frames;
        }
        if now == next_send {
            let (_, from, packet) = sends.next().expect("peeked");
            let _ = air.send(now, HostId(*from), *packet);
        } else {
            air.handle_timeout(now);
        }
        while let Some(event) = air.poll_event() {
            if let AirEvent::OnAir { at, frame, .. } = event {
                frames.push((at, *frame));
            }
        }
    }
}

fn compare(script: &Script, air: &Air<u64>, frames: &[(Instant, Frame<u64>)]) -> Result<(), String> {
    let name = |host: u32| script.hosts[host as usize].0.as_str();
    let show = |(at, frame): &(Instant, Frame<u64>)| {
        let to = frame.to.map_or("all", |to| name(to.0));
        format!("{at}: {} {} {to} at {}", name(frame.from.0), frame.name(), frame.rate)
    };
    let log = || frames.iter().take(40).map(show).collect::<Vec<_>>().join("\n");
    let mut played = frames.iter();
    let mut busy_until = Instant::ZERO;
    for (line, expected) in &script.expected {
        let failed = |what: String| Err(format!("line {line}: {what}\n{}", log()));
        match expected {
            Expected::Frame { gap, from, kind, to, rate } => {
                let Some(entry) = played.next() else { return failed("no further frame".into()) };
                let (at, frame) = entry;
                let found = (frame.kind, frame.cf_poll, frame.cf_ack, frame.arp.is_some());
                if (frame.from.0, found, frame.to.map(|to| to.0)) != (*from, *kind, *to)
                    || rate.is_some_and(|rate| rate != frame.rate)
                {
                    return failed(format!("found {}", show(entry)));
                }
                if !fits(*gap, *at, busy_until, script.mac.slot) {
                    let idle = *at - busy_until;
                    return failed(format!("found {} after {idle}, wanted {gap:?}", show(entry)));
                }
                busy_until = busy_until.max(*at + frame.airtime);
            }
            Expected::Silence => {
                if let Some(entry) = played.next() {
                    return failed(format!("found {}", show(entry)));
                }
            }
            Expected::Counter { host, name, value } => {
                let stats = format!("{:?}", air.stats(END, HostId(*host)));
                if !stats.contains(&format!(" {name}: {value},")) {
                    return failed(format!("wanted {name} {value}, found {stats}"));
                }
            }
        }
    }
    Ok(())
}

fn fits(gap: Gap, at: Instant, busy_until: Instant, slot: Duration) -> bool {
    let idle = at - busy_until;
    match gap {
        Gap::Any => true,
        Gap::At(time) => at == Instant::ZERO + time,
        Gap::Exactly(space) => idle >= space && idle <= space + TOLERANCE,
        Gap::BackOff(space) => {
            idle >= space && (idle - space).as_nanos() % slot.as_nanos() <= TOLERANCE.as_nanos()
        }
    }
}

fn read(text: &str) -> Result<Script, String> {
    let mut script = Script {
        mac: standard(),
        radio: RadioConfig::wavelan(),
        hosts: Vec::new(),
        roles: Vec::new(),
        sends: Vec::new(),
        expected: Vec::new(),
    };
    for (index, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        let words: Vec<&str> = line.split_whitespace().collect();
        read_line(&mut script, index + 1, &words).map_err(|what| format!("line {}: {what}", index + 1))?;
    }
    Ok(script)
}

/// 2 Mbit/s data and 1 Mbit/s control frames by the standard's rules, without RTS.
fn standard() -> MacConfig {
    MacConfig { rules: AccessRules::Standard, rts_threshold_bytes: u32::MAX, ..MacConfig::ns2() }
}

fn read_line(script: &mut Script, line: usize, words: &[&str]) -> Result<(), String> {
    let (words, rate) = match words {
        [words @ .., "at", mbps, "Mbit/s"] => {
            let mbps: f64 = mbps.parse().map_err(|_| format!("{mbps} is no number"))?;
            (words, Some(Rate::from_bps((mbps * 1e6) as u64)))
        }
        words => (words, None),
    };
    let host = |name: &str| {
        let found = script.hosts.iter().position(|(known, _)| known == name);
        found.map(|index| index as u32).ok_or_else(|| format!("no host {name}"))
    };
    let receiver = |name: &str| if name == "all" { Ok(None) } else { host(name).map(Some) };
    match words {
        [] => {}
        ["rules", "ns2"] => script.mac.rules = AccessRules::Ns2,
        ["resolution", rule] => script.mac.address_resolution = resolution(rule)?,
        ["aggregates", "of", packets, "packets"] => {
            let aggregation = Some(Aggregation { max_packets: number(packets)? as u8, ..Aggregation::ht() });
            script.mac = MacConfig { aggregation, ..MacConfig::ofdm() };
        }
        ["rates", "802.11b", "arf"] => {
            let rate_control = RateControl::Arf(ArfConfig::kamerman_monteban());
            script.mac = MacConfig { rate_control, ..MacConfig::dsss() };
        }
        ["reception", "error-curves"] => {
            script.radio.reception = Reception::ErrorCurves { noise_w: 4e-13 };
        }
        ["sense", metres, "m"] => {
            // Two-ray ground: power falls with the fourth power of distance.
            let metres = number(metres)? as f64 / 550.0;
            script.radio.carrier_threshold_w /= libm::pow(metres, 4.0);
        }
        ["rts", "from", bytes, "B"] => script.mac.rts_threshold_bytes = number(bytes)? as u32,
        ["host", name, x, y] => {
            let metres = |word: &str| word.parse::<f64>().map_err(|_| format!("{word} is no number"));
            script.hosts.push(((*name).to_string(), Position { x_m: metres(x)?, y_m: metres(y)? }));
        }
        [time, "us", from, "sends", bytes, "B", "to", to] => {
            let packet = Outgoing {
                to: receiver(to)?.map(HostId),
                bytes: number(bytes)? as u32,
                priority: Priority::Normal,
                payload: 0,
            };
            let at = Instant::ZERO + Duration::from_micros(number(time)?);
            script.sends.push((at, host(from)?, packet));
        }
        ["silence"] => script.expected.push((line, Expected::Silence)),
        ["access", "point", name, "polls", stations @ .., "for", longest, "us", "of", period, "us"] => {
            let stations = stations.iter().map(|name| host(name).map(HostId)).collect::<Result<_, _>>()?;
            let access_point = host(name)?;
            script.roles.push((access_point, Role::AccessPoint(stations)));
            let [period, max_duration] = [number(period)?, number(longest)?].map(Duration::from_micros);
            script.mac.coordination = Coordination::Polling(PollingConfig { period, max_duration });
        }
        [gap @ .., from, kind, to] if kind_of(kind).is_some() => {
            let Some(kind) = kind_of(kind) else { return Ok(()) };
            let gap = read_gap(gap, &script.mac)?;
            let frame = Expected::Frame { gap, from: host(from)?, kind, to: receiver(to)?, rate };
            script.expected.push((line, frame));
        }
        [name, counter, value] => {
            let (host, value) = (host(name)?, number(value)?);
            script.expected.push((line, Expected::Counter { host, name: (*counter).to_string(), value }));
        }
        other => return Err(format!("not understood: {}", other.join(" "))),
    }
    Ok(())
}

fn resolution(word: &str) -> Result<AddressResolution, String> {
    match word {
        "arp" => Ok(AddressResolution::Arp),
        "ns2" => Ok(AddressResolution::Ns2),
        other => Err(format!("no address resolution: {other}")),
    }
}

fn kind_of(word: &str) -> Option<Kind> {
    let plain = |kind| Some((kind, false, false, false));
    match word {
        "RTS" => plain(FrameKind::Rts),
        "CTS" => plain(FrameKind::Cts),
        "data" => plain(FrameKind::Data),
        "ARP" => Some((FrameKind::Data, false, false, true)),
        "ACK" => plain(FrameKind::Ack),
        "BA" => plain(FrameKind::BlockAck),
        "beacon" => plain(FrameKind::Beacon),
        "null" => plain(FrameKind::Null),
        "CF-End" => plain(FrameKind::CfEnd),
        "CF-End+CF-Ack" => Some((FrameKind::CfEnd, false, true, false)),
        "CF-Ack" => Some((FrameKind::Null, false, true, false)),
        "CF-Poll" => Some((FrameKind::Null, true, false, false)),
        "CF-Ack+CF-Poll" => Some((FrameKind::Null, true, true, false)),
        "data+CF-Ack" => Some((FrameKind::Data, false, true, false)),
        "data+CF-Poll" => Some((FrameKind::Data, true, false, false)),
        "data+CF-Ack+CF-Poll" => Some((FrameKind::Data, true, true, false)),
        _ => None,
    }
}

fn read_gap(words: &[&str], mac: &MacConfig) -> Result<Gap, String> {
    let difs = mac.sifs + mac.slot * 2;
    let eifs = mac.sifs + Duration::from_micros(304) + difs;
    match words {
        ["..."] => Ok(Gap::Any),
        ["at", "once"] => Ok(Gap::Exactly(Duration::ZERO)),
        ["SIFS"] => Ok(Gap::Exactly(mac.sifs)),
        ["PIFS"] => Ok(Gap::Exactly(mac.sifs + mac.slot)),
        ["DIFS"] => Ok(Gap::Exactly(difs)),
        ["EIFS"] => Ok(Gap::Exactly(eifs)),
        ["DIFS", "back-off"] => Ok(Gap::BackOff(difs)),
        ["EIFS", "back-off"] => Ok(Gap::BackOff(eifs)),
        ["EIFS", "DIFS", "back-off"] => Ok(Gap::BackOff(eifs + difs)),
        [time, "us"] => Ok(Gap::At(Duration::from_micros(number(time)?))),
        other => Err(format!("no gap: {}", other.join(" "))),
    }
}

fn number(word: &str) -> Result<u64, String> {
    word.parse().map_err(|_| format!("{word} is no number"))
}
