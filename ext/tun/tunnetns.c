/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds network namespaces and enters them. The functions are documented in
 * tunnetns.h.
 *
 * setns() moves a single thread to another namespace. tun_netns_call ()
 * therefore creates a temporary thread, and moves only this thread. If an
 * existing thread were moved, other code could open its sockets in that
 * namespace by mistake.
 */

#define _GNU_SOURCE             /* for setns */

#include "tunnetns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_NETNS "/proc/thread-self/ns/net"

/* Directories in which ip-netns(8) stores a file for each named network
 * namespace. The second directory is for systems that have no /run. */
static const gchar *const name_dirs[] = { "/run/netns", "/var/run/netns" };

static gboolean
is_pid (const gchar * text)
{
  return text[strspn (text, "0123456789")] == '\0';
}

static gint
open_netns (const gchar * path)
{
  return open (path, O_RDONLY | O_CLOEXEC);
}

static gint
open_by_name (const gchar * name)
{
  gint fd = -1;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (name_dirs); i++) {
    gchar *path = g_build_filename (name_dirs[i], name, NULL);

    fd = open_netns (path);
    g_free (path);
    if (fd >= 0 || errno != ENOENT)
      break;
  }
  return fd;
}

static gint
open_by_pid (const gchar * pid)
{
  gchar *path = g_strdup_printf ("/proc/%s/ns/net", pid);
  gint fd = open_netns (path);
  gint saved = errno;

  g_free (path);
  errno = saved;
  return fd;
}

static gint
open_by_text (const gchar * text)
{
  if (strchr (text, '/'))
    return open_netns (text);
  if (is_pid (text))
    return open_by_pid (text);
  return open_by_name (text);
}

static void
set_not_found (const gchar * text, gint error_number, GError ** error)
{
  gint code = error_number == ENOENT || error_number == ESRCH ?
      GST_RESOURCE_ERROR_NOT_FOUND : GST_RESOURCE_ERROR_OPEN_READ;
  const gchar *reason = g_strerror (error_number);

  if (strchr (text, '/'))
    g_set_error (error, GST_RESOURCE_ERROR, code,
        "Could not open the network namespace \"%s\": %s (errno %d). Set the "
        "name of a namespace, the path of its file, or a process ID.", text,
        reason, error_number);
  else if (is_pid (text))
    g_set_error (error, GST_RESOURCE_ERROR, code,
        "Could not open the network namespace of process %s "
        "(/proc/%s/ns/net): %s (errno %d). A namespace named %s is "
        "/run/netns/%s.", text, text, reason, error_number, text, text);
  else
    g_set_error (error, GST_RESOURCE_ERROR, code,
        "Could not open the network namespace \"%s\" (/run/netns/%s): %s "
        "(errno %d). \"ip netns list\" shows those that exist, \"ip netns add "
        "%s\" makes this one.", text, text, reason, error_number, text);
}

static gboolean
tun_netns_identify (TunNetns * netns)
{
  struct stat it, own;

  if (fstat (netns->fd, &it) < 0)
    return FALSE;
  netns->device = it.st_dev;
  netns->inode = it.st_ino;
  netns->own = stat (OWN_NETNS, &own) == 0 && own.st_dev == it.st_dev
      && own.st_ino == it.st_ino;
  return TRUE;
}

TunNetns *
tun_netns_find (const gchar * text, GError ** error)
{
  TunNetns *netns = g_new0 (TunNetns, 1);
  gint error_number;

  if (!text || !*text) {
    netns->fd = open_netns (OWN_NETNS);
    if (netns->fd >= 0)
      tun_netns_identify (netns);
    netns->own = TRUE;
    return netns;
  }

  netns->text = g_strdup (text);
  netns->fd = open_by_text (text);
  if (netns->fd >= 0 && tun_netns_identify (netns))
    return netns;

  error_number = errno;
  set_not_found (text, error_number, error);
  tun_netns_free (netns);
  return NULL;
}

void
tun_netns_free (TunNetns * netns)
{
  if (netns->fd >= 0)
    close (netns->fd);
  g_free (netns->text);
  g_free (netns);
}

gchar *
tun_netns_describe (const TunNetns * netns)
{
  if (!netns->text)
    return g_strdup ("our own network namespace");
  return g_strdup_printf ("the network namespace \"%s\"", netns->text);
}

typedef struct
{
  const TunNetns *netns;
  TunNetnsFunc func;
  gpointer user_data;
  GError *error;
} Visit;

static void
set_may_not_enter (const TunNetns * netns, gint error_number, GError ** error)
{
  const gchar *reason = g_strerror (error_number);

  if (error_number == EINVAL)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
        "\"%s\" is not a network namespace (setns: %s, errno %d). \"ip netns "
        "list\" shows those that exist.", netns->text, reason, error_number);
  else
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED,
        "May not enter the network namespace \"%s\": %s (errno %d). That takes "
        "CAP_SYS_ADMIN, here and in the user namespace that it belongs to: run "
        "as root, or begin with \"unshare --user --map-root-user --net\" and "
        "make the namespace from there.", netns->text, reason, error_number);
}

static gpointer
visit_thread (gpointer data)
{
  Visit *visit = data;
  gboolean done;

  if (setns (visit->netns->fd, CLONE_NEWNET) < 0) {
    set_may_not_enter (visit->netns, errno, &visit->error);
    return GINT_TO_POINTER (FALSE);
  }
  done = visit->func (visit->user_data, &visit->error);
  return GINT_TO_POINTER (done);
}

gboolean
tun_netns_call (const TunNetns * netns, TunNetnsFunc func, gpointer user_data,
    GError ** error)
{
  Visit visit = { netns, func, user_data, NULL };
  GThread *thread;
  gboolean done;

  if (netns->own)
    return func (user_data, error);

  thread = g_thread_try_new ("netns", visit_thread, &visit, error);
  if (!thread)
    return FALSE;
  done = GPOINTER_TO_INT (g_thread_join (thread));
  if (visit.error)
    g_propagate_error (error, visit.error);
  return done;
}
