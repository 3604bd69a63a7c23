//! A status page as figures: what each link carries in each direction now, what it loses, how long it takes.
use prismux_prism::LinkId;
use prismux_units::Instant;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Links that figures are kept of, the first on the page; a proxy has no more members.
pub const MAX_LINKS: usize = LinkId::COUNT;
/// Characters kept of a name; those of links and homes are shorter.
const MAX_NAME_CHARACTERS: usize = 64;

/// Which link.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkName {
    /// Whose it is, at a gateway.
    pub home: Option<String>,
    /// Its name there; a member's own, on its page.
    pub name: String,
}

/// A link's figures; `None` where nothing is known.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkSample {
    /// Which.
    pub link: Arc<LinkName>,
    /// Towards the receivers, bits of inner packets in a second.
    pub forward_bps: f32,
    /// From the receivers, bits of inner packets in a second.
    pub return_bps: f32,
    /// The share of packets lost lately.
    pub loss: Option<f32>,
    /// The round trip, in seconds.
    pub rtt_s: Option<f32>,
    /// What of it is spent in queues, in seconds.
    pub queueing_delay_s: Option<f32>,
    /// Whether it is up.
    pub up: bool,
}

/// A daemon's figures at an instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// When they were taken.
    pub at: Instant,
    /// Connections known.
    pub flows: u32,
    /// In the order of the page, at most [`MAX_LINKS`].
    pub links: Vec<LinkSample>,
}

/// Bytes that links have carried, towards the receivers and from them.
type Carried = BTreeMap<Arc<LinkName>, [u64; 2]>;

/// What links have carried when they were last looked at: rates are differences.
#[derive(Debug, Clone, Default)]
pub struct Sampler {
    before: Option<(Instant, Carried)>,
}

impl Sampler {
    /// The figures of a status page. A link that was not there a sample ago has carried nothing yet, nor has one whose
    /// counters have begun anew.
    pub fn sample(&mut self, now: Instant, status: &Value) -> Sample {
        let before = self.before.take();
        let (then, carried) = before.unwrap_or((now, BTreeMap::new()));
        let seconds = now.saturating_since(then).as_secs_f64();
        let mut counters = Carried::new();
        let mut links = Vec::new();
        for link in links_of(status).iter().take(MAX_LINKS) {
            let name = name_of(link);
            let known = carried.get_key_value(&name);
            let name = known.map_or_else(|| Arc::new(name), |(known, _)| Arc::clone(known));
            let count = ["forward_bytes", "return_bytes"].map(|key| link[key].as_u64().unwrap_or(0));
            let [forward, back] = known.map_or([0, 0], |(_, then)| {
                [0, 1].map(|n: usize| match (count.get(n), then.get(n)) {
                    (Some(count), Some(then)) => count.saturating_sub(*then),
                    _ => 0,
                })
            });
            let rate = |bytes: u64| if seconds > 0.0 { (bytes as f64 * 8.0 / seconds) as f32 } else { 0.0 };
            let receipts = receipts_of(status, &name.name);
            let number = |value: &Value| value.as_f64().map(|number| number as f32);
            links.push(LinkSample {
                link: Arc::clone(&name),
                forward_bps: rate(forward),
                return_bps: rate(back),
                loss: number(&link["loss"]).or_else(|| number(&receipts["loss"])),
                rtt_s: [&receipts["rtt_s"], &link["hrtt_s"], &link["rtt_s"]].into_iter().find_map(number),
                queueing_delay_s: number(&receipts["queueing_delay_s"]),
                up: link["up"].as_bool().unwrap_or(link["state"] == "registered"),
            });
            counters.insert(name, count);
        }
        self.before = Some((now, counters));
        let flows = status["flow_count"].as_u64().unwrap_or(0);
        Sample { at: now, flows: u32::try_from(flows).unwrap_or(u32::MAX), links }
    }
}

/// The entries of a status page that are about links. A member's own page is about the one that it lends.
pub fn links_of(status: &Value) -> &[Value] {
    match status["links"].as_array() {
        Some(links) => links,
        None if status["forward_bytes"].is_u64() => std::slice::from_ref(status),
        None => &[],
    }
}

/// Which link an entry of a status page is about.
pub fn name_of(link: &Value) -> LinkName {
    let text = |key: &str| link[key].as_str().map(|text| text.chars().take(MAX_NAME_CHARACTERS).collect());
    LinkName { home: text("home"), name: text("name").unwrap_or_default() }
}

/// What receipts say about the link of a name.
fn receipts_of<'a>(status: &'a Value, name: &str) -> &'a Value {
    let receipts = status["receipts"].as_array();
    receipts.and_then(|all| all.iter().find(|entry| entry["name"] == name)).unwrap_or(&Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(milliseconds: u64) -> Instant {
        Instant::from_nanos(milliseconds * 1_000_000)
    }

    #[test]
    fn rates_are_what_was_carried_since_the_sample_before() {
        let page = |forward: u64, back: u64| {
            json!({ "flow_count": 3,
                "links": [{ "name": "wan0", "up": true, "forward_bytes": forward, "return_bytes": back,
                    "loss": 0.25, "hrtt_s": 0.5, "rtt_s": 0.1 }],
                "receipts": [{ "name": "wan0", "rtt_s": 0.05, "queueing_delay_s": 0.01 }] })
        };
        let mut sampler = Sampler::default();
        let first = sampler.sample(at(1000), &page(5_000_000, 0));
        assert_eq!(first.links[0].forward_bps, 0.0, "nothing is known of the time before");
        let second = sampler.sample(at(3000), &page(5_250_000, 1000));
        assert_eq!((second.links[0].forward_bps, second.links[0].return_bps), (1_000_000.0, 4000.0));
        assert_eq!((second.flows, second.links[0].loss, second.links[0].rtt_s), (3, Some(0.25), Some(0.05)));
        let third = sampler.sample(at(4000), &page(100, 2000));
        assert_eq!(third.links[0].forward_bps, 0.0, "its counters began anew");
        assert!(Arc::ptr_eq(&second.links[0].link, &third.links[0].link), "names are kept once");
    }

    #[test]
    fn a_member_is_one_link_and_other_pages_have_none() {
        let page = json!({ "name": "phone", "state": "registered", "forward_bytes": 1, "return_bytes": 2, "rtt_s": 0.03,
            "receipts": 7 });
        let sample = Sampler::default().sample(at(0), &page);
        let [link] = &sample.links[..] else { panic!("one link, not {sample:?}") };
        assert_eq!((link.link.name.as_str(), link.up, link.rtt_s), ("phone", true, Some(0.03)));
        assert!(Sampler::default().sample(at(0), &json!({})).links.is_empty());
        assert!(Sampler::default().sample(at(0), &json!({ "links": "many" })).links.is_empty());
    }
}
