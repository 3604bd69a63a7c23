//! A daemon's status page as Prometheus reads it: text format 0.0.4, base units (seconds, bytes), counters in `_total`.
use crate::figures::links_of;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A value of a link on the status page: its key there, the metric, what it is, and what it is multiplied by.
type OfLink = (&'static str, &'static str, Kind, &'static str, f64);

/// What a value does.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Counter,
    Gauge,
}

/// Bits in a byte: pages have rates in bit/s.
const PER_BIT: f64 = 0.125;

/// Values under `links`.
const LINKS: &[OfLink] = &[
    ("up", "link_up", Kind::Gauge, "1 while the link carries traffic or could", 1.0),
    ("forward_bytes", "link_forward_bytes_total", Kind::Counter, "Inner bytes towards the receivers", 1.0),
    ("forward_packets", "link_forward_packets_total", Kind::Counter, "Packets towards the receivers", 1.0),
    ("return_bytes", "link_return_bytes_total", Kind::Counter, "Inner bytes from the receivers", 1.0),
    ("return_packets", "link_return_packets_total", Kind::Counter, "Packets from the receivers", 1.0),
    ("rate_bps", "link_rate_bytes_per_second", Kind::Gauge, "Learned rate", PER_BIT),
    ("hrtt_s", "link_round_trip_seconds", Kind::Gauge, "Smoothed round trip to the receiver and back", 1.0),
    ("min_rtt_s", "link_min_round_trip_seconds", Kind::Gauge, "Shortest round trip lately", 1.0),
    ("loss", "link_loss_ratio", Kind::Gauge, "Share of packets lost lately", 1.0),
    ("share", "link_share_ratio", Kind::Gauge, "Share of recent packets that went over it", 1.0),
    ("in_flight_packets", "link_in_flight_packets", Kind::Gauge, "Packets in flight", 1.0),
    ("today_bytes", "link_today_bytes", Kind::Gauge, "Bytes on the line today, both ways", 1.0),
    ("month_bytes", "link_billing_month_bytes", Kind::Gauge, "Bytes on the line this billing month", 1.0),
    ("cap_per_day_bytes", "link_cap_per_day_bytes", Kind::Gauge, "Most bytes of a day", 1.0),
    ("cap_per_month_bytes", "link_cap_per_month_bytes", Kind::Gauge, "Most bytes of a billing month", 1.0),
];

/// Values of tables of a link: the table's key, the value's, the metric, and what it is.
const TABLES: &[(&str, &str, &str, Kind, &str)] = &[
    ("statements", "signed", "statements_signed_total", Kind::Counter, "Statements that both have signed"),
    (
        "statements",
        "refused",
        "statements_refused_total",
        Kind::Counter,
        "What was not signed, or not believed",
    ),
    ("statements", "short", "statements_short_total", Kind::Counter, "Statements of less than was carried"),
    ("statements", "signed_bytes", "link_signed_bytes", Kind::Gauge, "Bytes that both have signed for"),
    ("statements", "unsigned_bytes", "link_unsigned_bytes", Kind::Gauge, "Bytes that are not signed for yet"),
    ("credit", "credit_bytes", "link_credit_bytes", Kind::Gauge, "Lent less what came back, signed by both"),
    ("credit", "owed_bytes", "link_owed_bytes", Kind::Gauge, "Bytes lent, signed or not"),
    ("credit", "repaid_bytes", "link_repaid_bytes", Kind::Gauge, "Bytes that were lent in return"),
    ("credit", "limit_bytes", "link_credit_limit_bytes", Kind::Gauge, "How much may be owed beyond those"),
];

/// Values under `receipts`.
const RECEIPTS: &[OfLink] = &[
    (
        "delivered_packets",
        "link_delivered_packets_total",
        Kind::Counter,
        "Packets that came, by receipts",
        1.0,
    ),
    ("lost_packets", "link_lost_packets_total", Kind::Counter, "Packets that did not come, by receipts", 1.0),
    ("capacity_bps", "link_capacity_bytes_per_second", Kind::Gauge, "Capacity by receipts", PER_BIT),
    ("queueing_delay_s", "link_queueing_delay_seconds", Kind::Gauge, "Delay in queues by receipts", 1.0),
];

/// A status page as metrics. What the page does not have is left out; `null` is no sample.
pub fn text(page: &Value) -> String {
    let mut out = Metrics::default();
    let role = page["role"].as_str().unwrap_or("daemon");
    let version = page["version"].as_str().unwrap_or("");
    out.sample("info", Kind::Gauge, "Which daemon this is", &[("role", role), ("version", version)], 1.0);
    out.value("uptime_seconds", Kind::Gauge, "Time since the start", &[], &page["uptime_s"], 1.0);
    out.value("flows", Kind::Gauge, "TCP connections known", &[], &page["flow_count"], 1.0);
    let memory = &page["flow_memory_bytes"];
    out.value("flow_memory_bytes", Kind::Gauge, "Memory of these connections", &[], memory, 1.0);
    let links = links_of(page);
    let receipts = page["receipts"].as_array().map_or(&[][..], Vec::as_slice);
    for (list, values) in [(links, LINKS), (receipts, RECEIPTS)] {
        for link in list {
            let labels = labels_of(link, links);
            for (key, metric, kind, help, factor) in values {
                out.value(metric, *kind, help, &labels, &link[*key], *factor);
            }
        }
    }
    for link in links {
        let mut labels = labels_of(link, links);
        for (table, key, metric, kind, help) in TABLES {
            if let Some(value) = link.get(*table).and_then(|table| table.get(*key)) {
                out.value(metric, *kind, help, &labels, value, 1.0);
            }
        }
        labels.push(("state", link["state"].as_str().unwrap_or("down")));
        out.sample("link_state", Kind::Gauge, "1 for the state that a link is in", &labels, 1.0);
    }
    for (name, value) in page["counters"].as_object().into_iter().flatten() {
        let help = "What the protocol has counted; see its page";
        out.value(&format!("core_{name}_total"), Kind::Counter, help, &[], value, 1.0);
    }
    for (reason, value) in page["drops"].as_object().into_iter().flatten() {
        let help = "Packets that went nowhere, by reason";
        out.value("dropped_packets_total", Kind::Counter, help, &[("reason", reason)], value, 1.0);
    }
    workers(&mut out, &page["workers"]);
    registry(&mut out, &page["registry"]);
    out.text()
}

/// What a gateway of a fleet knows of the registry.
fn registry(out: &mut Metrics, registry: &Value) {
    let Some(is_connected) = registry["connected"].as_bool() else { return };
    let help = "1 while the registry of the fleet answers";
    out.sample("registry_connected", Kind::Gauge, help, &[], f64::from(u8::from(is_connected)));
    for (key, metric, kind, help) in [
        ("since_s", "registry_since_seconds", Kind::Gauge, "For how long it has, or has not"),
        ("losses", "registry_losses_total", Kind::Counter, "How often the registry was lost"),
        ("homes", "registry_homes", Kind::Gauge, "Homes that the registry lets in"),
        (
            "known_as_of",
            "registry_known_timestamp_seconds",
            Kind::Gauge,
            "Of when that is, in seconds since 1970",
        ),
        ("malformed_entries", "registry_malformed_entries", Kind::Gauge, "Entries that make no sense"),
    ] {
        out.value(metric, kind, help, &[], &registry[key], 1.0);
    }
}

/// What workers have done, where there are any.
fn workers(out: &mut Metrics, workers: &Value) {
    let threads = workers["threads"].as_array().into_iter().flatten();
    for (number, thread) in threads.enumerate() {
        let labels = [("worker", number.to_string())];
        let labels = labels.each_ref().map(|(name, value)| (*name, value.as_str()));
        for (key, metric, help) in [
            ("sent_packets", "worker_sent_packets_total", "Packets that a worker was given to send"),
            ("opened_packets", "worker_opened_packets_total", "Packets that a worker was given to open"),
            ("cpu_s", "worker_cpu_seconds_total", "Processor time of a worker"),
        ] {
            out.value(metric, Kind::Counter, help, &labels, &thread[key], 1.0);
        }
    }
    let refused = &workers["refused_packets"];
    let help = "Packets that found a worker's queue full";
    out.value("worker_refused_packets_total", Kind::Counter, help, &[], refused, 1.0);
}

/// Whose link an entry is about: its name, and the home that it is of, at a gateway.
fn labels_of<'a>(entry: &'a Value, links: &'a [Value]) -> Vec<(&'static str, &'a str)> {
    let name = entry["name"].as_str().unwrap_or("");
    let link = links.iter().find(|link| link["name"] == name);
    let home = link.and_then(|link| link["home"].as_str());
    home.map(|home| ("home", home)).into_iter().chain([("link", name)]).collect()
}

/// Metrics by name: their head, and their samples.
#[derive(Default)]
struct Metrics(BTreeMap<String, (String, Vec<String>)>);

impl Metrics {
    fn value(
        &mut self,
        name: &str,
        kind: Kind,
        help: &str,
        labels: &[(&str, &str)],
        value: &Value,
        factor: f64,
    ) {
        let number = value.as_f64().or_else(|| value.as_bool().map(|is| if is { 1.0 } else { 0.0 }));
        if let Some(number) = number {
            self.sample(name, kind, help, labels, number * factor);
        }
    }

    fn sample(&mut self, name: &str, kind: Kind, help: &str, labels: &[(&str, &str)], value: f64) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
        };
        let labels: Vec<String> =
            labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let head = || format!("# HELP prismux_{name} {help}\n# TYPE prismux_{name} {kind}\n");
        let (_, samples) = self.0.entry(name.to_owned()).or_insert_with(|| (head(), Vec::new()));
        samples.push(format!("prismux_{name}{labels} {value}\n"));
    }

    fn text(self) -> String {
        let mut text = String::new();
        for (head, samples) in self.0.values() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{head}{}", samples.concat());
        }
        text
    }
}

/// A label's value between quotation marks.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::text;
    use serde_json::json;

    #[test]
    fn a_page_becomes_metrics_in_base_units_each_with_one_head() {
        let page = json!({
            "role": "home", "version": "1", "uptime_s": 2.5, "flow_count": 3,
            "links": [
                { "name": "wan0", "up": true, "state": "active", "forward_bytes": 10, "rate_bps": 8_000_000,
                  "hrtt_s": 0.04, "month_bytes": 7, "cap_per_month_bytes": null },
                { "name": "w\"1", "up": false, "state": null, "forward_bytes": 20, "rate_bps": null },
            ],
            "counters": { "data_packets": 7 }, "drops": { "forged": 1 },
        });
        let text = text(&page);
        for line in [
            "prismux_info{role=\"home\",version=\"1\"} 1",
            "prismux_uptime_seconds 2.5",
            "# TYPE prismux_link_forward_bytes_total counter",
            "prismux_link_forward_bytes_total{link=\"wan0\"} 10",
            "prismux_link_forward_bytes_total{link=\"w\\\"1\"} 20",
            "prismux_link_rate_bytes_per_second{link=\"wan0\"} 1000000",
            "prismux_link_round_trip_seconds{link=\"wan0\"} 0.04",
            "prismux_link_up{link=\"w\\\"1\"} 0",
            "prismux_link_billing_month_bytes{link=\"wan0\"} 7",
            "prismux_link_state{link=\"wan0\",state=\"active\"} 1",
            "prismux_core_data_packets_total 7",
            "prismux_dropped_packets_total{reason=\"forged\"} 1",
        ] {
            assert_eq!(text.lines().filter(|l| *l == line).count(), 1, "{line} in\n{text}");
        }
        assert_eq!(text.matches("# TYPE prismux_link_up ").count(), 1);
        assert!(!text.contains("link_rate_bytes_per_second{link=\"w\\"), "what is not known is no sample");
    }

    #[test]
    fn links_of_homes_say_whose_they_are_and_a_member_is_a_link() {
        let gateway = json!({ "links": [{ "name": "house-1", "home": "house", "forward_bytes": 1 }],
            "receipts": [{ "name": "house-1", "lost_packets": 2 }] });
        let gateway = text(&gateway);
        for line in [
            "prismux_link_forward_bytes_total{home=\"house\",link=\"house-1\"} 1",
            "prismux_link_lost_packets_total{home=\"house\",link=\"house-1\"} 2",
            "prismux_link_state{home=\"house\",link=\"house-1\",state=\"down\"} 1",
        ] {
            assert!(gateway.lines().any(|l| l == line), "{line} in\n{gateway}");
        }
        let member = text(
            &json!({ "name": "phone", "state": "registered", "forward_bytes": 5, "receipts": 7,
                "statements": { "signed_bytes": 6 }, "credit": { "credit_bytes": -3, "limit_bytes": null } }),
        );
        for line in
            ["prismux_link_signed_bytes{link=\"phone\"} 6", "prismux_link_credit_bytes{link=\"phone\"} -3"]
        {
            assert!(member.lines().any(|l| l == line), "{line} in\n{member}");
        }
        assert!(member.contains("prismux_link_forward_bytes_total{link=\"phone\"} 5\n"), "{member}");
    }
}
