//! Log lines as OpenTelemetry's collector reads them: its log data model in OTLP's JSON, one record on a line. Names of
//! attributes are those of its semantic conventions, and `prismux.` with the field's where there is none.
use serde_json::{Map, Value, json};
use std::fmt::{self, Debug};
use std::net::SocketAddr;
use std::time::SystemTime;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Writes these lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines;

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        writeln!(out, "{}", line(since.as_nanos(), event))
    }
}

/// A request with one record. 64-bit integers are strings, as in all JSON of protocol buffers.
fn line(time_unix_nano: u128, event: &Event<'_>) -> Value {
    let (severity, number) = severity(*event.metadata().level());
    let time = time_unix_nano.to_string();
    let mut fields = Fields::default();
    event.record(&mut fields);
    let mut record = json!({
        "timeUnixNano": time, "observedTimeUnixNano": time, "severityNumber": number, "severityText": severity,
        "body": { "stringValue": fields.body }, "attributes": fields.attributes,
    });
    if let (Some(name), Some(record)) = (fields.event_name, record.as_object_mut()) {
        record.insert("eventName".to_owned(), name.into());
    }
    let resource = [
        attribute("service.name", string("prismux")),
        attribute("service.version", string(env!("CARGO_PKG_VERSION"))),
        attribute("process.pid", integer(std::process::id())),
    ];
    let scope = json!({ "name": event.metadata().target() });
    json!({ "resourceLogs": [{
        "resource": { "attributes": resource }, "scopeLogs": [{ "scope": scope, "logRecords": [record] }],
    }] })
}

/// A level's name, and the lowest of its four numbers.
fn severity(level: Level) -> (&'static str, u8) {
    match level {
        Level::TRACE => ("TRACE", 1),
        Level::DEBUG => ("DEBUG", 5),
        Level::INFO => ("INFO", 9),
        Level::WARN => ("WARN", 13),
        Level::ERROR => ("ERROR", 17),
    }
}

fn attribute(key: &str, value: Value) -> Value {
    json!({ "key": key, "value": value })
}

fn string(text: impl Into<String>) -> Value {
    json!({ "stringValue": text.into() })
}

fn integer(number: impl ToString) -> Value {
    json!({ "intValue": number.to_string() })
}

/// An address and port, with or without the kind of tunnel before it, as in `sealed:192.0.2.7:51820`.
fn socket_address(text: &str) -> Option<SocketAddr> {
    text.parse().ok().or_else(|| text.split_once(':')?.1.parse().ok())
}

/// What an event says.
#[derive(Debug, Default)]
struct Fields {
    body: String,
    event_name: Option<String>,
    attributes: Vec<Value>,
}

impl Fields {
    fn text(&mut self, field: &Field, text: String) {
        match field.name() {
            "message" => self.body = text,
            "event" => self.event_name = Some(format!("prismux.{text}")),
            "error" => self.add("error.message", string(text)),
            "file" => self.add("file.path", string(text)),
            "peer" | "to" | "address" => match socket_address(&text) {
                Some(peer) => {
                    self.add("network.peer.address", string(peer.ip().to_string()));
                    self.add("network.peer.port", integer(peer.port()));
                }
                None => self.add("network.peer.address", string(text)),
            },
            _ => self.own(field, string(text)),
        }
    }

    fn own(&mut self, field: &Field, value: Value) {
        self.add(&format!("prismux.{}", field.name()), value);
    }

    fn add(&mut self, key: &str, value: Value) {
        self.attributes.push(attribute(key, value));
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.text(field, format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.text(field, value.to_owned());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.own(field, integer(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        let fits = i64::try_from(value).is_ok();
        self.own(field, if fits { integer(value) } else { string(value.to_string()) });
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        // Neither infinity nor what is no number has a literal in JSON.
        let number = serde_json::Number::from_f64(value).map(Value::from);
        let mut double = Map::new();
        double.insert("doubleValue".to_owned(), number.unwrap_or_else(|| value.to_string().into()));
        self.own(field, double.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.own(field, json!({ "boolValue": value }));
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;
    use serde_json::{Value, json};
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn lines_of(log: impl FnOnce()) -> Vec<Value> {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::level_filters::LevelFilter::TRACE)
            .with_writer(move || writer.clone())
            .event_format(Lines)
            .finish();
        tracing::subscriber::with_default(subscriber, log);
        let text = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn a_line_is_a_record_of_the_log_data_model() {
        let lines = lines_of(|| {
            let (member, nothing) = (Some("m1"), None::<&str>);
            let (peer, to) = ("sealed:192.0.2.7:51820", "[fd00::1]:9");
            tracing::warn!(event = "member_left", member, nothing, %peer, "m1 \"left\"\nnow");
            tracing::info!(changes = 3, share = 0.5, is_open = true, file = "/run/x", error = %"no", to, "done");
        });
        let [first, second] = &lines[..] else { panic!("two lines, not {lines:?}") };
        let logs = &first["resourceLogs"][0];
        let service = json!({ "key": "service.name", "value": { "stringValue": "prismux" } });
        assert!(logs["resource"]["attributes"].as_array().unwrap().contains(&service));
        let record = &logs["scopeLogs"][0]["logRecords"][0];
        assert_eq!(record["body"]["stringValue"], "m1 \"left\"\nnow");
        assert_eq!((&record["severityText"], &record["severityNumber"]), (&json!("WARN"), &json!(13)));
        assert_eq!(record["eventName"], "prismux.member_left");
        let time: u64 = record["timeUnixNano"].as_str().unwrap().parse().unwrap();
        assert!(time > 1_700_000_000_000_000_000, "nanoseconds since 1970: {time}");
        let expected = json!([
            { "key": "prismux.member", "value": { "stringValue": "m1" } },
            { "key": "network.peer.address", "value": { "stringValue": "192.0.2.7" } },
            { "key": "network.peer.port", "value": { "intValue": "51820" } },
        ]);
        assert_eq!(record["attributes"], expected);
        let record = &second["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
        assert_eq!(record["severityNumber"], 9);
        let expected = json!([
            { "key": "prismux.changes", "value": { "intValue": "3" } },
            { "key": "prismux.share", "value": { "doubleValue": 0.5 } },
            { "key": "prismux.is_open", "value": { "boolValue": true } },
            { "key": "file.path", "value": { "stringValue": "/run/x" } },
            { "key": "error.message", "value": { "stringValue": "no" } },
            { "key": "network.peer.address", "value": { "stringValue": "fd00::1" } },
            { "key": "network.peer.port", "value": { "intValue": "9" } },
        ]);
        assert_eq!(record["attributes"], expected);
    }
}
