//! The first line of a script: setting, engine, switches.
use prismux_script::{Words, number};
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::{EngineConfig, RecoveryStyle, RtoStyle, WindowReduction};
use prismux_tcp_door::{DoorConfig, Setting};
use prismux_units::{ByteCount, Duration};

/// Bytes of payload in a full segment.
pub const SEGMENT: u32 = 1000;

/// How both ends are set up.
pub struct Config {
    pub tcp: TcpConfig,
    pub door: DoorConfig,
    /// The peer speaks the option.
    pub peer_marks: bool,
    /// The handshake takes place before the script begins.
    pub handshake: bool,
}

/// Reads `SETTING ENGINE key=value ...`.
pub fn read(words: &mut Words<'_>) -> Result<Config, String> {
    let door = match words.word("a setting")? {
        "published" => DoorConfig::published(),
        "guarded" => DoorConfig::guarded(),
        name => Setting::parse(name).ok_or_else(|| format!("no setting {name:?}"))?.config(),
    };
    let tcp = match words.word("an engine")? {
        "rfc" => rfc(),
        "era" => TcpConfig { receive_buffer: ByteCount::new(60_000), ..TcpConfig::ns2_2002() },
        "modern" => TcpConfig { timestamps: false, delayed_ack: None, ..TcpConfig::modern() },
        name => return Err(format!("no engine {name:?}")),
    };
    let mut config = Config { tcp, door, peer_marks: true, handshake: true };
    config.tcp.engine.tlp = false;
    config.tcp.engine.initial_window_segments = 4;
    config.tcp.engine.limited_transmit = false;
    for (key, value) in words.switches()? {
        change(&mut config, key, value)?;
    }
    let marks = if config.peer_marks && config.door.offers_option { 8 } else { 0 };
    let stamps = if config.tcp.timestamps { 12 } else { 0 };
    config.tcp.mss = (SEGMENT + marks + stamps) as u16;
    Ok(config)
}

/// The sender of RFC 5681, RFC 6675 and RFC 6298, and no more.
fn rfc() -> TcpConfig {
    let engine = EngineConfig {
        recovery: RecoveryStyle::Standard,
        reduction: WindowReduction::Immediate,
        rto_style: RtoStyle::Rfc6298,
        growth_per_ack: false,
        clock_granularity: Duration::from_millis(1),
        ..EngineConfig::ns2_sack1()
    };
    TcpConfig { engine, receive_buffer: ByteCount::new(60_000), ..TcpConfig::ns2_2002() }
}

fn change(config: &mut Config, key: &str, value: &str) -> Result<(), String> {
    let on = value == "on";
    match key {
        "grows_while_frozen" => config.door.grows_while_frozen = on,
        "peer_marks" => config.peer_marks = on,
        "handshake" => config.handshake = on,
        "offers_option" => config.door.offers_option = on,
        "option_on_every_syn" => config.door.option_on_every_syn = on,
        "numbers_data" => config.door.numbers_data = on,
        "report_repeats" => config.door.report_repeats = number(value)?,
        "max_frozen_share" => {
            config.door.max_frozen_share = Some(value.parse().map_err(|_| "no share of time")?);
        }
        "timestamps" => config.tcp.timestamps = on,
        "sack" => config.tcp.sack = on,
        "ecn" => config.tcp.ecn = on,
        "initial_window" => config.tcp.engine.initial_window_segments = number(value)?,
        "max_burst" => config.tcp.engine.max_burst = Some(number(value)?),
        "proportional" => config.tcp.engine.reduction = WindowReduction::Proportional,
        _ => return Err(format!("unknown switch {key:?}")),
    }
    Ok(())
}
