//! Sweeps in which policies from outside decide.
use super::{Folder, TEXT, finish_with, request};
use crate::policies::{CongestionFactory, Policies, PolicyName};
use crate::sweep::{Others, PlanError, Store, StoreError, SweepRequest, Task, parquet, plan};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use prismux_scenario::ScenarioFile;
use prismux_tcp::engine::congestion::{
    AckSample, CongestionControl, CongestionSignal, CustomControl, Window,
};
use prismux_units::Duration;

/// A window of so many segments, whatever happens.
#[derive(Debug, Clone)]
struct Constant(u64);

impl CongestionControl for Constant {
    fn on_ack(&mut self, _sample: &AckSample, window: &mut Window) {
        window.cwnd = self.0 * u64::from(window.mss);
    }

    fn threshold(&mut self, _signal: CongestionSignal, window: &Window) -> u64 {
        self.0 * u64::from(window.mss)
    }

    fn on_external_reduction(&mut self, _before: &Window, _window: &Window) {}

    fn on_undo(&mut self, _window: &Window) {}

    fn on_idle(&mut self, _idle: Duration) {}
}

impl CustomControl for Constant {
    fn boxed(&self) -> Box<dyn CustomControl> {
        Box::new(self.clone())
    }
}

fn constant(segments: u64) -> Policies {
    let congestion = CongestionFactory::new(move || Box::new(Constant(segments)));
    Policies { congestion: Some(congestion), ..Policies::default() }
}

fn name(role: &str, hash: &str) -> PolicyName {
    PolicyName { role: role.to_string(), path: "mine:Constant".to_string(), hash: hash.to_string() }
}

/// A sweep over two transports, of which the policy serves one.
fn with_policy(hash: &str) -> SweepRequest {
    SweepRequest {
        policies: vec![name("congestion", hash)],
        ..request(&["flows.file.transport=\"rcp\",\"tcp\""], 1)
    }
}

fn texts(table: &RecordBatch, column: &str) -> Vec<Option<String>> {
    let column = table.column_by_name(column).unwrap().as_string::<i32>();
    column.iter().map(|text| text.map(str::to_string)).collect()
}

fn goodputs(table: &RecordBatch) -> Vec<f64> {
    table.column_by_name("total.goodput_bps").unwrap().as_primitive::<Float64Type>().values().to_vec()
}

#[test]
fn a_policy_decides_where_it_has_something_to_do_and_its_rows_say_so() {
    let folder = Folder::new("policy");
    let request = with_policy("one");
    let tasks = plan(&request).unwrap();
    let open = |folder: &Folder, tasks: &[Task]| {
        Store::open(&folder.target(), &request.axes, "wire", tasks, Others::Refuse).unwrap()
    };
    let table = finish_with(&tasks, &constant(2), open(&folder, &tasks));
    let words = texts(&table, "policy");
    assert_eq!(words, [None, Some("congestion=mine:Constant".to_string())], "RCP has no sender's window");
    let hashes = texts(&table, "policy_hash");
    assert!(hashes[0].is_none() && hashes[1].as_ref().is_some_and(|hash| hash.len() == 64));
    assert!(texts(&table, "scenario_hash").iter().flatten().all(|hash| hash.len() == 64));
    // Without it the flow over RCP is the same task, and the one over TCP another run.
    let (plain, apart) = (SweepRequest { policies: Vec::new(), ..request.clone() }, Folder::new("plain"));
    let plain_tasks = plan(&plain).unwrap();
    assert_eq!(plain_tasks[0].id, tasks[0].id);
    assert_ne!(plain_tasks[1].id, tasks[1].id);
    let without = finish_with(&plain_tasks, &Policies::default(), open(&apart, &plain_tasks));
    assert!(without.column_by_name("policy").is_none());
    let (with, without) = (goodputs(&table), goodputs(&without));
    assert_eq!(with[0], without[0]);
    // Two segments in a round trip of 40 ms, and what a full window of the built-in control makes of 1 Mbit/s.
    assert!(with[1] < 2.0 * 1500.0 * 8.0 / 0.04 && with[1] < 0.9 * without[1], "{with:?} {without:?}");
}

#[test]
fn rows_of_an_edited_policy_are_refused_kept_apart_or_pruned_and_never_mix() {
    let folder = Folder::new("edited-policy");
    let open = |request: &SweepRequest, others| {
        let tasks = plan(request).unwrap();
        Store::open(&folder.target(), &request.axes, "wire", &tasks, others).map(|store| (tasks, store))
    };
    let (before, after) = (with_policy("one"), with_policy("two"));
    let (tasks, store) = open(&before, Others::Refuse).unwrap();
    let old = finish_with(&tasks, &constant(2), store);
    let refused = open(&after, Others::Refuse).unwrap_err();
    assert!(matches!(refused, StoreError::OtherRows { count: 1, .. }), "{refused}");
    assert!(refused.to_string().contains("other policies"), "{refused}");
    let (tasks, store) = open(&after, Others::Keep).unwrap();
    let new = finish_with(&tasks, &constant(4), store);
    assert_eq!(new.num_rows(), 2, "this plan's rows only");
    assert!(goodputs(&new)[1] > 1.2 * goodputs(&old)[1]);
    let stored = || parquet::read(&folder.target()).unwrap().num_rows();
    assert_eq!(stored(), 3);
    let (tasks, store) = open(&after, Others::Prune).unwrap();
    assert_eq!(finish_with(&tasks, &constant(4), store), new);
    assert_eq!(stored(), 2);
}

#[test]
fn a_policy_without_anything_to_do_at_any_point_is_refused() {
    for (role, lack) in [
        ("scheduler", "no proxy to serve"),
        ("subflow_scheduler", "none runs over MPTCP"),
        ("congestion.other", "is for \"other\""),
    ] {
        let error = plan(&SweepRequest { policies: vec![name(role, "")], ..with_policy("") }).unwrap_err();
        assert!(matches!(error, PlanError::Unsupported(_)) && error.to_string().contains(lack), "{error}");
    }
    let text = TEXT.replace("flows.file", "flows.other");
    let other = SweepRequest { file: ScenarioFile::from_text("wire.toml", text), ..request(&[], 1) };
    assert!(plan(&SweepRequest { policies: vec![name("congestion.other", "")], ..other }).is_ok());
}

#[test]
fn a_task_travels_with_its_policies() {
    let request = with_policy("one");
    let task = &plan(&request).unwrap()[1];
    let message = task.message(&request);
    assert_eq!(message.task().unwrap().point.policies, request.policies);
    let mut edited = message;
    edited.policies[0].hash = "two".to_string();
    assert!(edited.task().unwrap_err().to_string().contains("another run of the task"));
}
