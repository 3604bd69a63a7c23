//! etcd's API of version 3, as JSON over HTTP.
use super::contents::Change;
use super::http::{self, Answer};
use crate::config::RegistryConfig;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;

/// Whoever asks waits no longer than this for one of the registry's servers.
const PATIENCE: Duration = Duration::from_secs(2);

/// The registry, as one asks it: each request at the server that answered last, or the next.
#[derive(Debug)]
pub struct Registry {
    endpoints: Vec<SocketAddr>,
    /// The one that answered last.
    at: usize,
    prefix: String,
    credentials: Option<(String, String)>,
    token: Option<String>,
}

/// Changes as they happen.
#[derive(Debug)]
pub(super) struct Watch {
    answer: Answer,
    prefix: String,
}

/// News of a watch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// What has changed, and with which revision.
    Changes(i64, Vec<Change>),
    /// So much is not kept any more: all has to be read anew.
    Gone,
}

impl Registry {
    /// Nobody is asked yet.
    ///
    /// # Errors
    /// The file with the password cannot be read, or is open to others.
    pub fn new(config: &RegistryConfig) -> Result<Self, String> {
        let credentials = config.credentials()?;
        let (endpoints, prefix) = (config.endpoints.clone(), config.prefix.clone());
        Ok(Self { endpoints, at: 0, prefix, credentials, token: None })
    }

    /// All that is there, and its revision.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub fn snapshot(&mut self) -> Result<(i64, Vec<(String, String)>), String> {
        let (key, end) = self.range();
        let answer = self.ask("/v3/kv/range", &json!({ "key": key, "range_end": end }))?;
        let revision = integer(answer.pointer("/header/revision")).ok_or("it names no revision")?;
        let entries = answer.get("kvs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        Ok((revision, entries.iter().filter_map(|entry| entry_of(&self.prefix, entry)).collect()))
    }

    /// Writes an entry, which ends with `lease` if one is named.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn put(&mut self, key: &str, value: &str, lease: Option<&str>) -> Result<(), String> {
        let put = self.put_request(key, value, lease);
        self.ask("/v3/kv/put", &put).map(drop)
    }

    /// Writes entries if none of them is there yet: all, or none. False for none.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn create(&mut self, entries: &[(String, String)]) -> Result<bool, String> {
        let absent = |(key, _): &(String, String)| {
            json!({ "target": "CREATE", "key": self.key(key),
            "create_revision": "0" })
        };
        let put =
            |(key, value): &(String, String)| json!({ "request_put": self.put_request(key, value, None) });
        let compare: Vec<Value> = entries.iter().map(absent).collect();
        let success: Vec<Value> = entries.iter().map(put).collect();
        let answer = self.ask("/v3/kv/txn", &json!({ "compare": compare, "success": success }))?;
        Ok(answer.get("succeeded").and_then(Value::as_bool).unwrap_or(false))
    }

    /// Removes an entry; false when there was none.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn delete(&mut self, key: &str) -> Result<bool, String> {
        let answer = self.ask("/v3/kv/deleterange", &json!({ "key": self.key(key) }))?;
        Ok(integer(answer.get("deleted")).unwrap_or(0) > 0)
    }

    /// Removes an entry if it still says `value`.
    ///
    /// # Errors
    /// Why it cannot.
    pub(super) fn delete_if(&mut self, key: &str, value: &str) -> Result<(), String> {
        let key = self.key(key);
        let compare = json!([{ "target": "VALUE", "key": key, "value": STANDARD.encode(value) }]);
        let delete = json!([{ "request_delete_range": { "key": key } }]);
        self.ask("/v3/kv/txn", &json!({ "compare": compare, "success": delete })).map(drop)
    }

    /// A lease: entries under it end when it is not kept alive.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn grant(&mut self, seconds: u64) -> Result<String, String> {
        let answer = self.ask("/v3/lease/grant", &json!({ "TTL": seconds.to_string() }))?;
        integer(answer.get("ID")).map(|id| id.to_string()).ok_or_else(|| "it names no lease".to_owned())
    }

    /// Keeps a lease alive; false when it has ended.
    ///
    /// # Errors
    /// Why nobody knows.
    pub(super) fn keep_alive(&mut self, lease: &str) -> Result<bool, String> {
        let answer = self.ask("/v3/lease/keepalive", &json!({ "ID": lease }))?;
        Ok(integer(answer.pointer("/result/TTL")).unwrap_or(0) > 0)
    }

    /// Ends a lease, and what is under it.
    ///
    /// # Errors
    /// Why it cannot; it ends by itself then.
    pub(super) fn end_lease(&mut self, lease: &str) -> Result<(), String> {
        self.ask("/v3/lease/revoke", &json!({ "ID": lease })).map(drop)
    }

    /// Changes from a revision on.
    ///
    /// # Errors
    /// Why they cannot be had.
    pub(super) fn watch(&mut self, from: i64) -> Result<Watch, String> {
        let (key, end) = self.range();
        let create = json!({ "create_request": { "key": key, "range_end": end,
            "start_revision": from.to_string() } });
        let answer = self.begin("/v3/watch", &create)?;
        Ok(Watch { answer, prefix: self.prefix.clone() })
    }

    /// An answer; with credentials a token is asked for first, and once more when it is not taken any more.
    fn ask(&mut self, path: &str, request: &Value) -> Result<Value, String> {
        let bytes = self.begin(path, request)?.rest(PATIENCE).map_err(|error| self.at_fault(&error))?;
        serde_json::from_slice(&bytes).map_err(|_| format!("{} answers nonsense", self.server()))
    }

    /// The head of an answer that is no refusal.
    fn begin(&mut self, path: &str, request: &Value) -> Result<Answer, String> {
        for is_last in [false, true] {
            if self.token.is_none() && self.credentials.is_some() {
                self.authenticate()?;
            }
            let answer = self.post(path, &request.to_string())?;
            if answer.status == 200 {
                return Ok(answer);
            }
            let status = answer.status;
            if is_last || self.token.take().is_none() {
                let said = answer.rest(PATIENCE).unwrap_or_default();
                return Err(format!("{} refuses {path}: {}", self.server(), refusal(status, &said)));
            }
        }
        Err("it refuses".to_owned())
    }

    fn authenticate(&mut self) -> Result<(), String> {
        let Some((name, password)) = self.credentials.clone() else { return Ok(()) };
        let request = json!({ "name": name, "password": password }).to_string();
        let answer = self.post("/v3/auth/authenticate", &request)?;
        let status = answer.status;
        let said = answer.rest(PATIENCE).unwrap_or_default();
        let read: Value = serde_json::from_slice(&said).unwrap_or_default();
        match read.get("token").and_then(Value::as_str).filter(|token| !token.contains(['\r', '\n'])) {
            Some(token) if status == 200 => self.token = Some(token.to_owned()),
            _ => return Err(format!("{} does not let {name} in: {}", self.server(), refusal(status, &said))),
        }
        Ok(())
    }

    /// Asks one server after the other.
    fn post(&mut self, path: &str, body: &str) -> Result<Answer, String> {
        let mut why = "no server is named".to_owned();
        for _ in 0..self.endpoints.len() {
            let Some(&to) = self.endpoints.get(self.at) else { break };
            match http::post(to, path, body, self.token.as_deref(), PATIENCE) {
                Ok(answer) => return Ok(answer),
                Err(error) => {
                    why = self.at_fault(&error);
                    self.at = (self.at + 1) % self.endpoints.len();
                }
            }
        }
        Err(why)
    }

    fn at_fault(&self, error: &std::io::Error) -> String {
        format!("{}: {error}", self.server())
    }

    fn server(&self) -> String {
        self.endpoints.get(self.at).map(|at| format!("etcd at {at}")).unwrap_or_default()
    }

    fn key(&self, key: &str) -> String {
        STANDARD.encode(format!("{}{key}", self.prefix))
    }

    fn put_request(&self, key: &str, value: &str, lease: Option<&str>) -> Value {
        let lease = lease.unwrap_or("0");
        json!({ "key": self.key(key), "value": STANDARD.encode(value), "lease": lease })
    }

    /// The range of keys that begin with the prefix, which ends in "/".
    fn range(&self) -> (String, String) {
        let end = format!("{}0", self.prefix.trim_end_matches('/'));
        (self.key(""), STANDARD.encode(end))
    }
}

impl Watch {
    /// What has happened; `None` when nothing does within `patience`.
    ///
    /// # Errors
    /// The watch has ended.
    pub fn next(&mut self, patience: Duration) -> Result<Option<Seen>, String> {
        let line = self.answer.line(patience).map_err(|error| format!("the watch has ended: {error}"))?;
        line.map(|line| seen(&self.prefix, &line)).transpose()
    }
}

/// What a line of a watch says.
fn seen(prefix: &str, line: &[u8]) -> Result<Seen, String> {
    let read: Value = serde_json::from_slice(line).map_err(|_| "a watch tells nonsense".to_owned())?;
    let result = read.get("result").ok_or("a watch is refused")?;
    if result.get("compact_revision").is_some() {
        return Ok(Seen::Gone);
    }
    if result.get("canceled").and_then(Value::as_bool) == Some(true) {
        return Err("the watch was cancelled".to_owned());
    }
    let revision = integer(result.pointer("/header/revision")).unwrap_or(0);
    let events = result.get("events").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let change = |event: &Value| {
        let (key, value) = entry_of(prefix, event.get("kv")?)?;
        let is_gone = event.get("type").and_then(Value::as_str) == Some("DELETE");
        Some(Change { key, value: (!is_gone).then_some(value) })
    };
    Ok(Seen::Changes(revision, events.iter().filter_map(change).collect()))
}

/// An entry, without the prefix; what is no text is given as such and found malformed later.
fn entry_of(prefix: &str, entry: &Value) -> Option<(String, String)> {
    let text = |name: &str| {
        let bytes = STANDARD.decode(entry.get(name).and_then(Value::as_str).unwrap_or_default()).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    Some((text("key")?.strip_prefix(prefix)?.to_owned(), text("value")?))
}

/// JSON has 64-bit numbers as text.
fn integer(value: Option<&Value>) -> Option<i64> {
    value.and_then(|value| value.as_i64().or_else(|| value.as_str()?.parse().ok()))
}

fn refusal(status: u16, said: &[u8]) -> String {
    let read: Value = serde_json::from_slice(said).unwrap_or_default();
    let why: String =
        read.get("error").and_then(Value::as_str).unwrap_or("no reason").chars().take(200).collect();
    format!("{} (status {status})", why.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::{Change, Seen, seen};

    #[test]
    fn a_watch_is_read_and_nonsense_ends_it() {
        let line = br#"{"result":{"header":{"revision":"7"},"events":[
            {"kv":{"key":"cC9ob21lcy9h","value":"eA=="}},{"type":"DELETE","kv":{"key":"cC9ob21lcy9i"}},
            {"kv":{"key":"b3RoZXI=","value":"eA=="}},{"kv":{"key":"%%","value":7}}]}}"#;
        let change =
            |key: &str, value: Option<&str>| Change { key: key.into(), value: value.map(Into::into) };
        let expected = vec![change("homes/a", Some("x")), change("homes/b", None)];
        assert_eq!(seen("p/", line), Ok(Seen::Changes(7, expected)));
        let compacted = br#"{"result":{"canceled":true,"compact_revision":"3"}}"#;
        assert_eq!(seen("p/", compacted), Ok(Seen::Gone));
        for wrong in ["", "[]", "{}", "null", "{\"error\":{}}", "{\"result\":{\"canceled\":true}}", "\u{7f}"]
        {
            assert!(seen("p/", wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
