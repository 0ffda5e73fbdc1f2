"""The published shape of the Kubernetes kinds that deploy/k8s uses: which fields, of which type.

A closed description after the API reference of apps/v1, batch/v1, v1, networking.k8s.io/v1 and
rbac.authorization.k8s.io/v1, of the fields that are used; `misfits` names every other one, so that a
misspelt field is found, which an API server would silently drop.
"""

STRINGS = {"*": str}
SELECTOR = {"matchLabels": STRINGS, "matchExpressions": [{"key": str, "operator": str, "values": [str]}]}
META = {"name": str, "namespace": str, "labels": STRINGS, "annotations": STRINGS}
PROBE = {"httpGet": {"path": str, "port": (str, int), "scheme": str}, "exec": {"command": [str]}, "periodSeconds": int, "timeoutSeconds": int,
         "failureThreshold": int}
CONTAINER = {
    "name": str, "image": str, "command": [str], "args": [str],
    "env": [{"name": str, "value": str, "valueFrom": {"fieldRef": {"fieldPath": str}}}],
    "ports": [{"name": str, "containerPort": int}], "livenessProbe": PROBE, "readinessProbe": PROBE,
    "resources": {"requests": STRINGS, "limits": STRINGS},
    "securityContext": {"runAsUser": int, "allowPrivilegeEscalation": bool, "readOnlyRootFilesystem": bool,
                        "capabilities": {"drop": [str], "add": [str]}},
    "volumeMounts": [{"name": str, "mountPath": str, "readOnly": bool}],
}
CONFIG = {"name": str, "items": [{"key": str, "path": str}]}
POD = {
    "serviceAccountName": str, "automountServiceAccountToken": bool, "hostPID": bool, "priorityClassName": str,
    "tolerations": [{"operator": str}], "restartPolicy": str, "terminationGracePeriodSeconds": int,
    "securityContext": {"runAsNonRoot": bool, "runAsUser": int, "runAsGroup": int, "fsGroup": int,
                        "seccompProfile": {"type": str}},
    "initContainers": [CONTAINER], "containers": [CONTAINER],
    "volumes": [{"name": str, "hostPath": {"path": str, "type": str}, "configMap": CONFIG,
                 "persistentVolumeClaim": {"claimName": str}, "secret": {"secretName": str, "defaultMode": int},
                 "emptyDir": {"medium": str, "sizeLimit": str}, "projected": {"sources": [
                     {"serviceAccountToken": {"path": str, "expirationSeconds": int}, "configMap": CONFIG}]}}],
}
TEMPLATE = {"metadata": META, "spec": POD}
CLAIM = {"accessModes": [str], "resources": {"requests": STRINGS}}
PORTS = [{"protocol": str, "port": int}]
PEERS = [{"namespaceSelector": SELECTOR, "podSelector": SELECTOR}]
ROLE = {"rules": [{"apiGroups": [str], "resources": [str], "resourceNames": [str], "verbs": [str]}]}
BINDING = {"roleRef": {"apiGroup": str, "kind": str, "name": str},
           "subjects": [{"kind": str, "name": str, "namespace": str}]}
KINDS = {
    ("v1", "Namespace"): {},
    ("v1", "ServiceAccount"): {"automountServiceAccountToken": bool},
    ("v1", "ConfigMap"): {"data": STRINGS},
    ("v1", "Service"): {"spec": {"selector": STRINGS, "ports": [{"name": str, "port": int, "targetPort": str}]}},
    ("v1", "PersistentVolumeClaim"): {"spec": CLAIM},
    ("apps/v1", "DaemonSet"): {"spec": {"selector": SELECTOR, "template": TEMPLATE, "updateStrategy": {
        "type": str, "rollingUpdate": {"maxUnavailable": int}}}},
    ("apps/v1", "Deployment"): {"spec": {"replicas": int, "strategy": {"type": str}, "selector": SELECTOR,
                                         "template": TEMPLATE}},
    ("apps/v1", "StatefulSet"): {"spec": {"serviceName": str, "replicas": int, "selector": SELECTOR,
                                          "template": TEMPLATE,
                                          "volumeClaimTemplates": [{"metadata": META, "spec": CLAIM}]}},
    ("batch/v1", "Job"): {"spec": {"backoffLimit": int, "ttlSecondsAfterFinished": int, "template": TEMPLATE}},
    ("networking.k8s.io/v1", "NetworkPolicy"): {"spec": {
        "podSelector": SELECTOR, "policyTypes": [str], "ingress": [{"from": PEERS, "ports": PORTS}],
        "egress": [{"to": PEERS, "ports": PORTS}]}},
    ("rbac.authorization.k8s.io/v1", "ClusterRole"): ROLE,
    ("rbac.authorization.k8s.io/v1", "Role"): ROLE,
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"): BINDING,
    ("rbac.authorization.k8s.io/v1", "RoleBinding"): BINDING,
}


def misfits(value, shape, where):
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            yield f"{where}: must be a map"
            return
        for key, each in value.items():
            inner = shape.get(key, shape.get("*"))
            if inner is None:
                yield f"{where}.{key}: no such field"
            else:
                yield from misfits(each, inner, f"{where}.{key}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            yield f"{where}: must be a list"
            return
        for i, each in enumerate(value):
            yield from misfits(each, shape[0], f"{where}[{i}]")
    elif not isinstance(value, shape) or (isinstance(value, bool) and shape is int):
        yield f"{where}: {value!r} is no {shape}"


def misfits_of_object(thing, where):
    shape = KINDS.get((thing.get("apiVersion"), thing.get("kind")))
    if shape is None:
        yield f"{where}: unknown kind {thing.get('apiVersion')} {thing.get('kind')}"
        return
    yield from misfits(thing, {**shape, "apiVersion": str, "kind": str, "metadata": META}, where)
