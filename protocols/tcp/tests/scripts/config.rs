//! The first line of a script: a profile and changed switches.
use prismux_script::{Words, duration, number};
use prismux_tcp::engine::CongestionKind;
use prismux_tcp::{EcnEcho, TcpConfig, TcpProfile};
use prismux_units::ByteCount;

/// Reads `PROFILE key=value ...`; without any words it is the modern profile.
pub fn read(words: &mut Words<'_>) -> Result<TcpConfig, String> {
    if words.peek().is_none() {
        return Ok(TcpConfig::modern());
    }
    let profile = words.word("a profile")?.parse::<TcpProfile>().map_err(|error| error.to_string())?;
    let mut config = profile.config();
    for (key, value) in words.switches()? {
        change(&mut config, key, value)?;
    }
    Ok(config)
}

fn change(config: &mut TcpConfig, key: &str, value: &str) -> Result<(), String> {
    let on = value == "on";
    match key {
        "nagle" => config.nagle = on,
        "sack" => config.sack = on,
        "dsack" => config.dsack = on,
        "timestamps" => config.timestamps = on,
        "window_scaling" => config.window_scaling = on,
        "ecn" => config.ecn = on,
        "ecn_echo" if value == "each" => config.ecn_echo = EcnEcho::EachSegment,
        "tlp" => config.engine.tlp = on,
        "rack" => config.engine.rack = on,
        "consume_on_arrival" => config.consume_on_arrival = on,
        "congestion" => {
            config.engine.congestion = CongestionKind::parse(value).ok_or("no such congestion control")?;
        }
        "delayed_ack" if value == "off" => config.delayed_ack = None,
        "delayed_ack" => config.delayed_ack = Some(duration(value)?),
        "quick_ack" => config.quick_ack_segments = number(value)?,
        "mss" => config.mss = number(value)?,
        "receive_buffer" => config.receive_buffer = ByteCount::new(number(value)?),
        "max_ranges" => config.max_out_of_order_ranges = number(value)?,
        "initial_window" => config.engine.initial_window_segments = number(value)?,
        "syn_retries" => config.syn_retries = number(value)?,
        "repeat_syn_ack" => config.repeat_syn_ack = on,
        "syn_loss_is_timeout" => config.syn_loss_is_timeout = on,
        "give_up_after" => config.give_up_after = duration(value)?,
        "time_wait" => config.time_wait = duration(value)?,
        "keep_alive" => config.keep_alive = Some(keep_alive(value)?),
        _ => return Err(format!("unknown switch {key:?}")),
    }
    Ok(())
}

/// `idle/interval/probes`, for instance `10s/1s/3`.
fn keep_alive(text: &str) -> Result<prismux_tcp::KeepAlive, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let [idle, interval, probes] = parts.as_slice() else {
        return Err("keep_alive=idle/interval/probes".into());
    };
    Ok(prismux_tcp::KeepAlive {
        idle: duration(idle)?,
        interval: duration(interval)?,
        probes: number(probes)?,
    })
}
