//! Providers that cannot say yet: what is left to a later run, over every transport.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use groma_framework::{
    Bundle, Call, Deferred, ImportTarget, Lease, Maybe, Model, ModelDataSource, ModelEphemeralResource, ModelResource,
    ModifyPlanRequest, ModifyPlanResponse, ProviderDiagnostic, ReadContext,
};
use groma_framework_testing::{Problems, Project, Transport};
use groma_plugin::Protocol;
use groma_provider::Provider;

/// What lives in a cluster, which may not be there yet.
#[derive(Model, Clone)]
struct Pod {
    name: String,
    #[attribute(computed)]
    address: Maybe<String>,
}

#[derive(Clone, Default)]
struct Cluster(Arc<AtomicBool>);

impl Cluster {
    fn is_there(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    fn absent() -> ProviderDiagnostic {
        ProviderDiagnostic::error("No cluster", "The cluster does not exist yet.")
    }

    fn found(pod: Pod) -> Pod {
        Pod { address: Maybe::Known(format!("at {}", pod.name)), ..pod }
    }
}

impl ModelResource for Cluster {
    type Model = Pod;

    async fn create(&self, plan: Pod, call: &mut Call) -> Result<Pod, ProviderDiagnostic> {
        if !self.is_there() {
            return Err(call.defer(Deferred::AbsentPrerequisite, Self::absent()));
        }
        Ok(Self::found(plan))
    }

    async fn read(&self, state: Pod, call: &mut Call) -> Result<Option<Pod>, ProviderDiagnostic> {
        if !self.is_there() {
            return Err(call.defer(Deferred::AbsentPrerequisite, Self::absent()));
        }
        Ok(Some(Self::found(state)))
    }

    async fn delete(&self, _: Pod, _: &mut Call) -> Result<(), ProviderDiagnostic> {
        Ok(())
    }

    async fn import(&self, target: ImportTarget, call: &mut Call) -> Result<Option<Pod>, ProviderDiagnostic> {
        let ImportTarget::Id(name) = target else { return Ok(None) };
        if !self.is_there() {
            return Err(call.defer(Deferred::AbsentPrerequisite, Self::absent()));
        }
        Ok(Some(Self::found(Pod { name, address: Maybe::Null })))
    }

    async fn modify_plan(&self, request: ModifyPlanRequest) -> Result<ModifyPlanResponse, ProviderDiagnostic> {
        let mut response = request.unchanged();
        if !self.is_there() {
            response.defer(Deferred::AbsentPrerequisite, Self::absent());
        }
        Ok(response)
    }
}

impl ModelDataSource for Cluster {
    type Model = Pod;

    async fn read(&self, config: Pod, context: &mut ReadContext) -> Result<Pod, ProviderDiagnostic> {
        if !self.is_there() {
            return Err(context.defer(Deferred::AbsentPrerequisite, Self::absent()));
        }
        // A warning of a successful read, which must arrive although the read was deferred before.
        context.warn("Slow", "The cluster is slow.");
        Ok(Self::found(config))
    }
}

impl ModelEphemeralResource for Cluster {
    type Model = Pod;

    async fn open(&self, config: Pod, lease: &mut Lease) -> Result<Pod, ProviderDiagnostic> {
        if !self.is_there() {
            return Err(lease.defer(Deferred::AbsentPrerequisite, Self::absent()));
        }
        Ok(Self::found(config))
    }
}

fn project(cluster: &Cluster, transport: Transport, body: &str) -> Project {
    let cluster = cluster.clone();
    let provider = move || {
        let one = || cluster.clone();
        let bundle = Bundle::new().resource("test_pod", one()).data_source("test_pod", one());
        Arc::new(bundle.ephemeral_resource("test_pod", one()).build().unwrap()) as Arc<dyn Provider>
    };
    let mut project = Project::new("example/test", provider, transport).unwrap();
    project.configure(body);
    project
}

fn everywhere(test: impl Fn(Transport)) {
    [Transport::InProcess, Transport::Protocol(Protocol::V5), Transport::Protocol(Protocol::V6)]
        .into_iter()
        .for_each(test);
}

fn refused<T>(result: Result<T, Problems>) -> Vec<String> {
    result.err().map(|problems| problems.errors().to_vec()).unwrap_or_default()
}

const ABSENT: &str = "The cluster does not exist yet.";

#[test]
fn pl_29_plans_reads_and_opens_are_deferred_until_their_prerequisite_exists() {
    everywhere(|transport| {
        let cluster = Cluster::default();
        let body = "resource \"test_pod\" \"a\" {\n  name = \"a\"\n}\ndata \"test_pod\" \"d\" {\n  name = \"d\"\n}\n\
                    ephemeral \"test_pod\" \"e\" {\n  name = \"e\"\n}\n\
                    resource \"terraform_data\" \"after\" {\n  input = data.test_pod.d.address\n}\n\
                    resource \"terraform_data\" \"free\" {\n}\n";
        let mut project = project(&cluster, transport, body);
        let problems = refused(project.plan());
        assert!(problems.iter().all(|problem| problem.contains(ABSENT)), "{transport:?} {problems:?}");
        // One each for the resource, the data source and the ephemeral resource.
        assert_eq!(problems.len(), 3, "{transport:?} {problems:?}");

        let planned = project.plan_in_part().unwrap();
        let left =
            ["data.test_pod.d: absent_prereq", "terraform_data.after: deferred_prereq", "test_pod.a: absent_prereq"];
        let mut found = planned.deferred();
        found.sort();
        assert_eq!(found, left, "{transport:?}");
        // What depends on nothing deferred is planned as usual.
        assert_eq!(planned.actions(), ["terraform_data.free: create"]);
        project.apply_plan(planned).unwrap();

        cluster.0.store(true, Ordering::SeqCst);
        let planned = project.plan_in_part().unwrap();
        assert_eq!(planned.deferred(), Vec::<String>::new());
        assert!(planned.warnings().iter().any(|warning| warning.contains("Slow")), "{:?}", planned.warnings());
        assert_eq!(planned.actions(), ["terraform_data.after: create", "test_pod.a: create"]);
        project.apply_plan(planned).unwrap();

        cluster.0.store(false, Ordering::SeqCst);
        assert_eq!(project.plan_in_part().unwrap().actions(), Vec::<String>::new(), "what is there stays as it is");
        assert!(refused(project.plan()).iter().all(|problem| problem.contains(ABSENT)));
    });
}

#[test]
fn pl_29_import_is_deferred() {
    everywhere(|transport| {
        let cluster = Cluster::default();
        let body = "import {\n  to = test_pod.a\n  id = \"a\"\n}\nresource \"test_pod\" \"a\" {\n  name = \"a\"\n}\n";
        let mut project = project(&cluster, transport, body);
        assert!(refused(project.plan()).iter().any(|problem| problem.contains(ABSENT)), "{transport:?}");
        assert_eq!(project.plan_in_part().unwrap().deferred(), ["test_pod.a: absent_prereq"], "{transport:?}");
        cluster.0.store(true, Ordering::SeqCst);
        assert_eq!(project.apply().unwrap(), Vec::<String>::new());
        assert!(project.object("test_pod.a").is_some());
    });
}

#[test]
fn apply_is_not_deferred() {
    everywhere(|transport| {
        let cluster = Cluster::default();
        cluster.0.store(true, Ordering::SeqCst);
        let mut project = project(&cluster, transport, "resource \"test_pod\" \"a\" {\n  name = \"a\"\n}\n");
        let planned = project.plan_in_part().unwrap();
        cluster.0.store(false, Ordering::SeqCst);
        let problems = refused(project.apply_plan(planned));
        assert!(problems.iter().any(|problem| problem.contains(ABSENT)), "{transport:?} {problems:?}");
        assert!(project.object("test_pod.a").is_none());
    });
}

#[derive(Model)]
struct Settings {
    token: Maybe<String>,
}

#[test]
fn provider_may_log_in_during_configuration() {
    everywhere(|transport| {
        let token: Arc<RwLock<String>> = Arc::default();
        let kept = Arc::clone(&token);
        let provider = move || {
            let kept = Arc::clone(&kept);
            let log_in = move |settings: Settings| {
                let kept = Arc::clone(&kept);
                async move {
                    a_moment().await;
                    let Maybe::Known(token) = settings.token else {
                        return Err(ProviderDiagnostic::error("No token", "Set the argument token."));
                    };
                    *kept.write().unwrap_or_else(PoisonError::into_inner) = token;
                    Ok(())
                }
            };
            let there = Cluster(Arc::new(AtomicBool::new(true)));
            let bundle = Bundle::new().configured_later(log_in).resource("test_pod", there);
            Arc::new(bundle.build().unwrap()) as Arc<dyn Provider>
        };
        let mut project = Project::new("example/test", provider, transport).unwrap();
        let pod = "resource \"test_pod\" \"a\" {\n  name = \"a\"\n}\n";
        project.configure(pod);
        assert!(refused(project.plan()).iter().any(|problem| problem.contains("No token")), "{transport:?}");
        project.configure(&format!("provider \"test\" {{\n  token = \"t\"\n}}\n{pod}"));
        assert_eq!(project.plan().unwrap().actions(), ["test_pod.a: create"]);
        assert_eq!(*token.read().unwrap(), "t");
    });
}

/// Comes back later, so that whoever waits must wait.
async fn a_moment() {
    let mut is_first = true;
    std::future::poll_fn(move |context| {
        if std::mem::take(&mut is_first) {
            context.waker().wake_by_ref();
            return std::task::Poll::Pending;
        }
        std::task::Poll::Ready(())
    })
    .await;
}
