//! What the page asks for each second: each link in words, the figures that it does not have yet, and decisions.
use super::Published;
use super::history::LEVELS;
use super::request::Request;
use crate::explain;
use crate::figures::{LinkName, MAX_LINKS, Sample, links_of, name_of};
use serde_json::{Value, json};
use std::sync::Arc;

/// What a link's account says.
const BOOKED: [&str; 5] =
    ["today_bytes", "month_bytes", "month_from", "cap_per_day_bytes", "cap_per_month_bytes"];

/// The answer to `level=0&after_ms=1234&decisions_from=7`; what is left out means everything.
pub(super) fn answer(published: &Published, request: &Request) -> Value {
    let level = request.number("level").and_then(|level| usize::try_from(level).ok()).unwrap_or(0);
    let samples = published.history.after(level, request.number("after_ms"));
    let mut names: Vec<Arc<LinkName>> = Vec::new();
    let samples: Vec<Value> = samples.iter().map(|sample| row(sample, &mut names)).collect();
    let status = &published.status;
    let links: Vec<Value> = links_of(status).iter().take(MAX_LINKS).map(told).collect();
    let levels: Vec<Value> =
        LEVELS.iter().map(|l| json!({ "interval_s": l.interval_s, "samples": l.samples })).collect();
    let names: Vec<Value> =
        names.iter().map(|link| json!({ "home": link.home, "name": link.name })).collect();
    let decisions = published.decisions.from(request.number("decisions_from").unwrap_or(0));
    json!({
        "links": links,
        "levels": levels,
        "names": names,
        "columns": ["name", "forward_bps", "return_bps", "loss", "rtt_s", "queueing_delay_s", "up"],
        "samples": samples,
        "decisions": decisions.iter().map(Arc::as_ref).collect::<Vec<_>>(),
    })
}

/// A link that is there now, in words.
fn told(link: &Value) -> Value {
    let LinkName { home, name } = name_of(link);
    let explained = explain::link(link);
    let account = || BOOKED.iter().map(|key| ((*key).to_owned(), link[*key].clone())).collect::<Value>();
    let booked = link["today_bytes"].is_u64().then(account);
    json!({ "home": home, "name": name, "use": explained.used, "why": explained.why, "booked": booked })
}

/// A sample as a list: milliseconds, flows, and a list for each link. Names are told once, in `names`.
fn row(sample: &Sample, names: &mut Vec<Arc<LinkName>>) -> Value {
    let mut number_of = |link: &Arc<LinkName>| {
        names.iter().position(|known| known == link).unwrap_or_else(|| {
            names.push(Arc::clone(link));
            names.len() - 1
        })
    };
    let links: Vec<Value> = sample
        .links
        .iter()
        .map(|link| {
            json!([
                number_of(&link.link),
                link.forward_bps.round(),
                link.return_bps.round(),
                link.loss,
                link.rtt_s,
                link.queueing_delay_s,
                link.up,
            ])
        })
        .collect();
    json!([sample.milliseconds(), sample.flows, links])
}
