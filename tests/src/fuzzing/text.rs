//! Targets that read files: those people write, and logs, captures and messages.
use prismux_daemons::config::{MemberConfig, ProxyConfig};
use prismux_daemons::tunnel::control::{Message, Token};
use prismux_link::DeliveryTrace;
use prismux_scenario::{ScenarioFile, hash};
use prismux_trace::event::{EventSink, JsonLines, read_json_lines};
use prismux_units::{Duration, Instant};
use std::path::Path;

/// The secret of the control messages that are tried.
pub(super) const TOKEN: &str = "a token of sixteen bytes or more";

/// A scenario file and its variants. A refusal names the file; what is accepted has one hash.
pub fn scenario(data: &[u8]) {
    let file = ScenarioFile::from_text("fuzz.toml", String::from_utf8_lossy(data));
    let variants = file.variants().unwrap_or_default();
    let names = variants.iter().map(|variant| Some(variant.name.as_str()));
    for variant in [None].into_iter().chain(names).take(4) {
        match file.scenario(variant, &[]) {
            Ok(scenario) => assert_eq!(hash(&scenario.plan), hash(&scenario.plan.clone())),
            Err(error) => assert!(error.to_string().contains("fuzz.toml"), "{error}"),
        }
    }
}

/// A proxy's configuration.
pub fn proxy_config(data: &[u8]) {
    if let Err(error) = ProxyConfig::from_text(Path::new("fuzz.toml"), &String::from_utf8_lossy(data)) {
        assert!(error.to_string().starts_with("fuzz.toml"), "{error}");
    }
}

/// A member's configuration.
pub fn member_config(data: &[u8]) {
    if let Err(error) = MemberConfig::from_text(Path::new("fuzz.toml"), &String::from_utf8_lossy(data)) {
        assert!(error.to_string().starts_with("fuzz.toml"), "{error}");
    }
}

/// A Mahimahi packet-delivery trace.
pub fn delivery_trace(data: &[u8]) {
    if let Ok(trace) = DeliveryTrace::parse(&String::from_utf8_lossy(data)) {
        assert!(trace.period() > Duration::ZERO && trace.opportunities() > 0);
    }
}

/// A message between member and proxy.
pub fn control(data: &[u8]) {
    let token = Token::new(TOKEN).expect("long enough");
    if let Ok(message) = Message::parse(data, &token) {
        assert_eq!(message.emit(&token), data, "a message has one form only");
    }
}

/// An event log, read back and written again.
pub fn event_log(data: &[u8]) {
    let Ok(records) = read_json_lines(data) else { return };
    let mut log = JsonLines::new(Vec::new());
    for record in &records {
        log.event(Instant::from_nanos(record.time_ns), &record.event);
    }
    let text = log.finish().expect("memory does not run out");
    assert_eq!(read_json_lines(&text[..]).expect("what is written can be read"), records);
}

/// A packet capture.
pub fn capture(data: &[u8]) {
    if let Ok(capture) = prismux_trace::pcapng::read(data) {
        for packet in &capture.packets {
            assert!(packet.interface < capture.interfaces.len());
            super::bytes::tcp(&packet.bytes);
        }
    }
}
